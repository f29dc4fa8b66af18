"""The papers recomputed: their numbers beside ours, their figures drawn again, and what holds of
their claims.
"""
