"""Calibration: which noise, sampling rate or number of steps keeps a budget."""
