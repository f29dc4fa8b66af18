"""Everything random that a run draws: noise, batches, and the seeds behind both."""
