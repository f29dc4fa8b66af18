"""What the numbers mean: verdicts, attack risks, and statements in words."""
