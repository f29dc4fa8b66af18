"""Private deep learning: what a mechanism costs, and training that pays exactly that."""

__version__ = "0.1.0"
