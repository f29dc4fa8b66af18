"""Statistics of auditing: arrays in, a `Finding` out, without a trainer or torch.

README.md has the theorems.
"""
