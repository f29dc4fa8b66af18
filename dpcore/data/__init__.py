"""Data sets: their catalogue, files and downloads.

Free of torch, except for torchvision's downloads.
"""
