"""The certified accountant: proven lower and upper bounds. README.md has the proof."""
