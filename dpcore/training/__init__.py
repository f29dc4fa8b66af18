"""Private training: what is drawn is what is charged."""
