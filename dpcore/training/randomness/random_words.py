"""Random numbers of 63 bits, from which noise and batches are made, and the machine on which a sum's last bit depends.

On the CPU they are the key stream of AES-128 in counter mode, a cryptographic generator: whoever tells its words from
independent uniform ones has broken AES. CUDA draws from its own generator, Philox, which is not a cryptographic one.
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


MASK = 2**BITS - 1  # torch has signed integers only
BLOCK = 16  # bytes of an AES block
ZEROS = np.zeros(1 << 20, dtype=np.uint8)  # a multiple of BLOCK
ZEROS.flags.writeable = False
DIGEST = 16  # bytes by which a state that is none is told apart


class RandomWords(ABC):
    """A stream of independent numbers, each uniform on 0 ... 2^63 - 1."""

    further: int  # words that the first word of a uniform number is continued by
    on_host: bool  # whether to look at the numbers makes nobody wait
    device: torch.device  # where they are drawn

    @abstractmethod
    def fill(self, memory: Tensor) -> None:
        """Write the next numbers over the memory (an even count,) of int64, on the device."""

    def draw(self, count: int) -> Tensor:
        """The next numbers: (count,) of int64; of an odd count one more is passed over."""
        memory = torch.empty(count + count % 2, dtype=torch.int64, device=self.device)
        self.fill(memory)
        return memory[:count]

    @abstractmethod
    def state(self) -> Tensor:
        """What the rest of the stream follows from, as bytes."""

    @abstractmethod
    def restore(self, state: Tensor) -> None:
        """Go on where the stream of this state was; ValueError or RuntimeError for what is no state."""


@final
class AesWords(RandomWords):
    """The key stream of AES-128 in counter mode: key and first counter are the 32 bytes of `secret`."""

    further = FURTHER["AES"]  # they are drawn where the first word is small, which is nearly never
    on_host = True
    device = torch.device("cpu")

    def __init__(self, secret: bytes) -> None:
        self._begin(secret[:BLOCK], secret[BLOCK:])

    def _begin(self, key: bytes, counter: bytes) -> None:
        self._key, self._counter, self._blocks = key, counter, 0
        self._stream = Cipher(algorithms.AES(key), modes.CTR(counter)).encryptor()

    def fill(self, memory: Tensor) -> None:
        words = memory.view(-1).numpy()  # an error where the memory is not in one stretch: reshape would copy it
        written = words.view(np.uint8)
        for start in range(0, len(written), len(ZEROS)):
            part = written[start : start + len(ZEROS)]
            self._stream.update_into(ZEROS[: len(part)].data, part.data)  # the key stream is what it makes of zeros
        self._blocks += len(written) // BLOCK
        np.bitwise_and(words, MASK, out=words)

    def state(self) -> Tensor:
        counter = (int.from_bytes(self._counter) + self._blocks) % 2 ** (8 * BLOCK)
        content = self._key + counter.to_bytes(BLOCK)
        return torch.frombuffer(bytearray(content + _digest(content)), dtype=torch.uint8)

    def restore(self, state: Tensor) -> None:
        held = state.numpy().tobytes()
        content, digest = held[: 2 * BLOCK], held[2 * BLOCK :]
        if digest != _digest(content):
            raise ValueError("Expected the state of an AES stream.")
        self._begin(content[:BLOCK], content[BLOCK:])


@final
class DeviceWords(RandomWords):
    """Numbers from the generator of a device, which a CUDA graph can draw from: nobody looks at them on the way."""

    further = FURTHER["CUDA"]  # they are drawn each time
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
    """The 32 bytes that a stream starts from: another seed, or another machine, gives a stream that shares nothing.

    The machine has a say because its sums are rounded in its own way: two runs with the same noise on sums that are
    rounded otherwise would give away the difference of the sums.
    """
    words = seed.generate_state(8, np.uint32).tobytes()  # as many as the 128 bits of its pool can fill twice over
    return hashlib.sha256(words + json.dumps(machine, sort_keys=True).encode()).digest()


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()[:DIGEST]
