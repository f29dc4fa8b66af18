"""The statistics of auditing: arrays in, a `Finding` out; no trainer and no torch. README.md has the theorems."""
