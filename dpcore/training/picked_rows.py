"""The rows of a batch that stay where they are until a part of the batch takes them."""

from torch import Size, Tensor

from dpcore.training.byte_rows import Rows


class PickedRows:
    """Rows of a set of examples at the positions of a batch.

    A batch of wide rows is copied twice where it is taken as a whole: to memory, and part by part back to a core. So
    each core takes the rows of its own part, which stay in its cache: of 8,192 rows of 3,969 features 12 ms, not 45.
    """

    def __init__(self, held: Tensor, at: Tensor) -> None:
        self._held, self._at = held, at

    def __len__(self) -> int:
        return len(self._at)

    def __getitem__(self, part: slice) -> Tensor:
        """The rows of a part of the batch."""
        return self._held.index_select(0, self._at[part])

    @property
    def shape(self) -> Size:
        """What the batch's shape would be as one tensor."""
        return Size((len(self), *self._held.shape[1:]))


def picked(rows: Rows, at: Tensor) -> Tensor | PickedRows:
    """The rows at these positions: on a processor those of features stay where they are."""
    if isinstance(rows, Tensor) and rows.is_cpu and rows.itemsize == 2:
        return PickedRows(rows, at)
    return rows[at]
