"""A process's part of a GPU that others use too."""

import torch


def take_part(memory: float) -> None:
    """Bound what this process takes of the GPU's memory to a part of it; nothing where there is no GPU.

    Beyond it an allocation fails as where the memory is full: the parts in which a batch is summed become smaller.
    """
    if torch.cuda.is_available():
        torch.cuda.set_per_process_memory_fraction(memory)
