"""Papers recomputed: their numbers beside ours, their figures, and what holds of their claims."""
