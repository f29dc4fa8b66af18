"""The random numbers of a run: noise, batches, and their seeds."""
