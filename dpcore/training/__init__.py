"""Private training, which charges the noise that it draws."""
