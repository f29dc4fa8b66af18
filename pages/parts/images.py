"""Small grey images in HTML."""

from base64 import b64encode
from html import escape
from io import BytesIO

import numpy as np

from dpcore.privacy.mechanism import FloatArray


def image_html(grey: FloatArray, alt: str, pixels: int, caption: str = "") -> str:
    """A figure of greys (h, w) from 0, black, to 1, white; what lies beyond is cut off."""
    from PIL import Image  # here, not above: few pages draw one

    file = BytesIO()
    Image.fromarray((255 * np.clip(grey, 0, 1)).round().astype(np.uint8)).save(file, "PNG")
    source = b64encode(file.getvalue()).decode()
    note = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    image = f'<img src="data:image/png;base64,{source}" width={pixels} height={pixels} alt="{escape(alt)}">'
    return f"<figure>{image}{note}</figure>"
