"""Data sets: what they are, where they lie, how they come. Free of torch, but for torchvision's downloads."""
