"""Training with the audit's eyes on every step."""
