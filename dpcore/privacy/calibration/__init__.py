"""Calibration: the noise, sampling rate or number of steps that keeps a budget."""
