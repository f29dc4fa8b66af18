"""Where the noise can go: private learning of two classes by output, objective, gradient and input perturbation."""
