"""When a run reports, and what its reports add up to."""
