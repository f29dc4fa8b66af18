"""Private learning of two classes by output, objective, gradient and input perturbation."""
