"""Trade-off functions: what an attacker must accept in one kind of error for the other."""
