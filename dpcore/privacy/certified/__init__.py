"""The certified accountant: proven bounds from below and above. README.md is the proof."""
