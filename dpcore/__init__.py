"""Private deep learning: what a mechanism costs, and training that pays exactly that."""
