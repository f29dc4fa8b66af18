"""The recorded step of a run on CUDA; a run on another device imports nothing from here."""
