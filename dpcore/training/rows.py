"""Examples that stay where they are, as bytes or as a whole set, until a batch or a part of it takes them."""

from collections.abc import Callable

from torch import Size, Tensor


class ByteRows:
    """Rows of bytes, each scaled when it is taken: a quarter of the memory that float32 takes.

    **Guarantees:** what is taken is bit for bit what scaling all of them first gives: each byte is scaled alone.
    """

    def __init__(self, held: Tensor, scaled: Callable[[Tensor], Tensor]) -> None:
        self._held, self._scaled = held, scaled

    def __len__(self) -> int:
        return len(self._held)

    def __getitem__(self, at: Tensor | slice) -> Tensor:
        """The rows at these positions, or in this stretch, as numbers."""
        return self._scaled(self._held[at])

    def first(self, count: int) -> "ByteRows":
        """The first so many rows, still bytes."""
        return ByteRows(self._held[:count], self._scaled)


Rows = Tensor | ByteRows


class PickedRows:
    """Rows of a set of examples at the positions of a batch.

    On a processor a batch of wide rows is copied twice where it is taken as a whole: to memory, and part by part back
    to a core. So each core takes the rows of its own part, which stay in its cache: of 8,192 rows of 3,969 features 12
    ms, not 45. On a GPU the batch with all its views may not fit: where parts become smaller, so does what is taken.
    """

    def __init__(self, held: Rows, at: Tensor) -> None:
        self._held, self._at = held, at

    def __len__(self) -> int:
        return len(self._at)

    def __getitem__(self, part: slice) -> Tensor:
        """The rows of a part of the batch."""
        at = self._at[part]
        return self._held.index_select(0, at) if isinstance(self._held, Tensor) else self._held[at]

    @property
    def shape(self) -> Size:
        """What the batch's shape would be as one tensor."""
        return Size((len(self), *self._held[:0].shape[1:]))


def picked(rows: Rows, at: Tensor) -> Tensor | PickedRows:
    """The rows at these positions; they stay where they are on a GPU, and on a processor if they are halves.

    On a processor all others fit into memory, and a part of them is a stretch of it. Rows of any other kind, such as
    those that an audit watches, are taken at once: whoever made them looks at whole batches.
    """
    stay = isinstance(rows, ByteRows) or (isinstance(rows, Tensor) and (not rows.is_cpu or rows.itemsize == 2))
    return PickedRows(rows, at) if stay else rows[at]
