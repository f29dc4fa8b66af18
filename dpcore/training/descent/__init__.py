"""How parameters move beside the optimizer: learning rate, acceptance of proposals, the average of the weights."""
