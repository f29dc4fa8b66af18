"""What networks are given of an image: a fixed function of that image alone, which looks at no data."""
