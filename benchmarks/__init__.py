"""Measurements of this project beside its peers: scripts, never tests."""
