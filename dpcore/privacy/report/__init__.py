"""The meaning of the numbers: verdicts, attack risks, and statements in words."""
