"""How far colours are from each other and from the paper, for an eye that sees three colours or
only two.

Sources: Machado, Oliveira and Fernandes 2009, "A physiologically-based model for simulation of
color vision deficiency", IEEE TVCG 15(6), matrices of severity 1.0, which apply to linear RGB;
CIEDE2000 as in Sharma, Wu and Dalal 2005, "The CIEDE2000 color-difference formula"; WCAG 2.1 for
luminance and contrast.
"""

import math

import numpy as np

EYES = {
    "all three": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritanopia": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
WHITE = np.array([0.95047, 1.0, 1.08883])  # D65


def linear(color: str) -> np.ndarray:
    """Linear RGB of "#rrggbb"."""
    channels = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def luminance(color: str) -> float:
    """Relative luminance."""
    return float(linear(color) @ [0.2126, 0.7152, 0.0722])


def contrast(color: str, other: str) -> float:
    low, high = sorted((luminance(color), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def lab(color: str, eye: str) -> np.ndarray:
    """L*, a*, b* of a colour as that eye sees it."""
    t = XYZ @ np.clip(EYES[eye] @ linear(color), 0, 1) / WHITE
    f = np.where(t > (6 / 29) ** 3, np.cbrt(t), t / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def difference(one: np.ndarray, other: np.ndarray) -> float:
    """CIEDE2000 of two colours in L*, a*, b*."""
    (l1, a1, b1), (l2, a2, b2) = one.tolist(), other.tolist()
    mean = (math.hypot(a1, b1) + math.hypot(a2, b2)) / 2
    stretched = 1.5 - 0.5 * math.sqrt(mean**7 / (mean**7 + 25**7))
    c1, c2 = math.hypot(a1 * stretched, b1), math.hypot(a2 * stretched, b2)
    h1, h2 = (math.degrees(math.atan2(b, a * stretched)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = (h2 - h1 + 180) % 360 - 180 if c1 * c2 else 0.0
    hue = (h1 + turn / 2) % 360 if c1 * c2 else h1 + h2
    light, c = (l1 + l2) / 2, (c1 + c2) / 2
    waves = ((-0.17, 1, -30), (0.24, 2, 0), (0.32, 3, 6), (-0.20, 4, -63))
    t = 1 + sum(
        size * math.cos(math.radians(times * hue + offset)) for size, times, offset in waves
    )
    lightness = (l2 - l1) / (1 + 0.015 * (light - 50) ** 2 / math.sqrt(20 + (light - 50) ** 2))
    chroma = (c2 - c1) / (1 + 0.045 * c)
    tone = 2 * math.sqrt(c1 * c2) * math.sin(math.radians(turn / 2)) / (1 + 0.015 * c * t)
    rotation = 60 * math.exp(-(((hue - 275) / 25) ** 2))
    mixed = -2 * math.sqrt(c**7 / (c**7 + 25**7)) * math.sin(math.radians(rotation))
    return math.sqrt(lightness**2 + chroma**2 + tone**2 + mixed * chroma * tone)
