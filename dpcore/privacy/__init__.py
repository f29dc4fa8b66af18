"""What a mechanism costs: accountants, and the mathematics under them. NumPy and SciPy only."""
