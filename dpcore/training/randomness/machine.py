"""What the last bit of a sum depends on, beside the settings of a run."""

import torch


def machine_of(device: torch.device, threads: int) -> dict[str, str]:
    """The device with its kind, how many threads share a sum, and the version of torch.

    Two machines that agree in all of this round alike. A device "auto" must have been resolved to the one that was
    found.
    """
    kind = torch.backends.cpu.get_cpu_capability()
    if device.type == "cuda":
        kind = torch.cuda.get_device_name(device)
    return {"device": f"{device} ({kind})", "threads": str(threads), "torch": str(torch.__version__)}
