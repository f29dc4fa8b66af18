"""Data sets: what they are, where they lie, how they come. Only `load` needs torch, and only for the full sets."""
