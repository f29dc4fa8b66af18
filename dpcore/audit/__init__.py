"""Whether a claim of privacy holds for a program: what can be tested of it, and what that shows."""
