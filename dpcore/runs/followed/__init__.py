"""Trainings of other programs, followed: `dpcore.follow` counts them and keeps them as runs."""
