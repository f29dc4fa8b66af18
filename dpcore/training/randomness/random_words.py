"""Random numbers of 63 bits for noise and batches, and the machine that decides the last bit of a
sum.

On the CPU they are the key stream of AES-128 in counter mode, a cryptographic generator: telling
its words from independent uniform ones means breaking AES. CUDA draws from its own generator,
Philox, which is not cryptographic.
"""

import hashlib
import json
import platform
from abc import ABC, abstractmethod
from functools import cache
from pathlib import Path
from typing import final

import numpy as np
import torch
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.random import SeedSequence
from torch import Tensor

from dpcore.training.randomness.missing_mass import BITS, FURTHER

# In /proc/cpuinfo.
NAMED_BY = ("vendor_id", "cpu family", "model", "model name", "CPU implementer", "CPU part")


def machine_of(device: torch.device, threads: int) -> dict[str, str]:
    """The device with its kind, the number of threads that share a sum, and the version of torch.

    Two machines that agree in all of this are assumed to round alike. Equal instruction sets are
    not enough: libraries have different matrix products for processors of one set. A device "auto"
    must be resolved before.
    """
    kind = f"{torch.backends.cpu.get_cpu_capability()}, {processor()}"
    if device.type == "cuda":
        kind = torch.cuda.get_device_name(device)
    return {
        "device": f"{device} ({kind})",
        "threads": str(threads),
        "torch": str(torch.__version__),
    }


@cache
def processor(listed: Path = Path("/proc/cpuinfo")) -> str:
    """The system's name for the processor."""
    try:
        lines = [line.partition(":") for line in listed.read_text().splitlines()]
    except OSError:
        lines = []  # not Linux
    values = {name.strip(): value.strip() for name, _, value in reversed(lines)}  # the first core's
    return (
        " ".join(values[name] for name in NAMED_BY if name in values)
        or platform.processor()
        or platform.machine()
    )


MASK = 2**BITS - 1  # torch has signed integers only
BLOCK = 16  # bytes of an AES block
ZEROS = np.zeros(1 << 20, dtype=np.uint8)  # a multiple of BLOCK
ZEROS.flags.writeable = False
DIGEST = 16  # bytes of a state's digest, which reveals a damaged state


class RandomWords(ABC):
    """A stream of independent numbers, each uniform on 0 ... 2^63 - 1."""

    further: int  # words that continue the first word of a uniform number
    on_host: bool  # true if reading the numbers makes nobody wait
    device: torch.device

    @abstractmethod
    def fill(self, memory: Tensor) -> None:
        """Write the next numbers over the memory (an even count,) of int64, on the device."""

    def draw(self, count: int) -> Tensor:
        """The next numbers, (count,) of int64; an odd count skips one more."""
        memory = torch.empty(count + count % 2, dtype=torch.int64, device=self.device)
        self.fill(memory)
        return memory[:count]

    @abstractmethod
    def state(self) -> Tensor:
        """The state of the stream, as bytes."""

    @abstractmethod
    def restore(self, state: Tensor) -> None:
        """Continue from a state. Errors: ValueError or RuntimeError for another tensor."""


@final
class AesWords(RandomWords):
    """The key stream of AES-128 in counter mode; the 32 bytes of `secret` are the key and the first
    counter.
    """

    further = FURTHER["AES"]  # drawn only after a small first word, which is rare
    on_host = True
    device = torch.device("cpu")

    def __init__(self, secret: bytes) -> None:
        self._begin(secret[:BLOCK], secret[BLOCK:])

    def _begin(self, key: bytes, counter: bytes) -> None:
        self._key = key
        self._counter = counter
        self._blocks = 0
        self._stream = Cipher(algorithms.AES(key), modes.CTR(counter)).encryptor()

    def fill(self, memory: Tensor) -> None:
        # Raises for memory that is not contiguous, which reshape would copy.
        words = memory.view(-1).numpy()
        written = words.view(np.uint8)
        for start in range(0, len(written), len(ZEROS)):
            part = written[start : start + len(ZEROS)]
            # Encrypted zeros are the key stream.
            self._stream.update_into(ZEROS[: len(part)].data, part.data)
        self._blocks += len(written) // BLOCK
        np.bitwise_and(words, MASK, out=words)

    def state(self) -> Tensor:
        counter = (int.from_bytes(self._counter) + self._blocks) % 2 ** (8 * BLOCK)
        content = self._key + counter.to_bytes(BLOCK)
        return torch.frombuffer(bytearray(content + _digest(content)), dtype=torch.uint8)

    def restore(self, state: Tensor) -> None:
        held = state.numpy().tobytes()
        content = held[: 2 * BLOCK]
        digest = held[2 * BLOCK :]
        if digest != _digest(content):
            raise ValueError("Expected the state of an AES stream.")
        self._begin(content[:BLOCK], content[BLOCK:])


@final
class DeviceWords(RandomWords):
    """Numbers from the generator of a device, which a CUDA graph can use; they never leave the
    device.
    """

    further = FURTHER["CUDA"]  # drawn each time
    on_host = False

    def __init__(self, generator: torch.Generator) -> None:
        self.generator = generator

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        return self.generator.device

    def fill(self, memory: Tensor) -> None:
        memory.random_(generator=self.generator)

    def state(self) -> Tensor:
        return self.generator.get_state()

    def restore(self, state: Tensor) -> None:
        self.generator.set_state(state)


def secret_of(seed: SeedSequence, machine: dict[str, str]) -> bytes:
    """The 32 bytes that start a stream; another seed or machine gives a stream that shares nothing.

    The machine matters because its rounding of sums is its own: two runs with equal noise on sums
    that are rounded differently would reveal the difference of the sums.
    """
    words = seed.generate_state(8, np.uint32).tobytes()  # twice the 128 bits of its pool
    return hashlib.sha256(words + json.dumps(machine, sort_keys=True).encode()).digest()


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()[:DIGEST]
