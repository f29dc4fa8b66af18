"""What the last bit of a sum depends on, beside the settings of a run."""

import platform
from functools import cache
from pathlib import Path

import torch

NAMED_BY = ("vendor_id", "cpu family", "model", "model name", "CPU implementer", "CPU part")  # as the system lists it


def machine_of(device: torch.device, threads: int) -> dict[str, str]:
    """The device with its kind, how many threads share a sum, and the version of torch.

    Two machines that agree in all of this are taken to round alike. The instruction set alone would not say so: for one
    set, libraries have products of matrices for several models of processors. A device "auto" must have been resolved
    to the one that was found.
    """
    kind = f"{torch.backends.cpu.get_cpu_capability()}, {processor()}"
    if device.type == "cuda":
        kind = torch.cuda.get_device_name(device)
    return {"device": f"{device} ({kind})", "threads": str(threads), "torch": str(torch.__version__)}


@cache
def processor(listed: Path = Path("/proc/cpuinfo")) -> str:
    """The model of the processor, as the system names it."""
    try:
        lines = [line.partition(":") for line in listed.read_text().splitlines()]
    except OSError:
        lines = []  # not Linux
    values = {name.strip(): value.strip() for name, _, value in reversed(lines)}  # the first core's
    return " ".join(values[name] for name in NAMED_BY if name in values) or platform.processor() or platform.machine()
