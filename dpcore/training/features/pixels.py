"""What a run makes of the bytes of images: numbers on a fixed scale, on which no data set had a say."""

from torch import Tensor


def scaled(values: Tensor) -> Tensor:
    """Bytes of grey images (n, H, W) as (n, 1, H, W) in [0, 1], of colour images (n, 3, H, W) in [-1, 1], float32."""
    return values[:, None].float().div_(255) if values.dim() == 3 else values.float().div_(127.5).sub_(1.0)
