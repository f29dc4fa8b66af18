"""A fingerprint of data changes with every example and label, and with nothing else."""

import numpy as np

from dpcore.data.fingerprint import fingerprint_of
from dpcore.data.loading import Images, Split


def split(images: np.ndarray, labels: np.ndarray) -> Split:
    return Split(Images(images, labels), Images(images[:2], labels[:2]))


IMAGES = np.arange(4 * 28 * 28, dtype=np.uint8).reshape(4, 28, 28)
LABELS = np.array([3, 1, 2, 0], dtype=np.uint8)


def test_the_same_numbers_have_the_same_fingerprint_wherever_they_lie() -> None:
    doubled = np.repeat(IMAGES, 2, axis=0)[::2]
    assert not doubled.flags.c_contiguous
    assert fingerprint_of(split(doubled, LABELS.copy())) == fingerprint_of(split(IMAGES, LABELS))


def test_whatever_is_different_has_another() -> None:
    pixel, label = IMAGES.copy(), LABELS.copy()
    pixel[3, 27, 27] += 1
    label[3] += 1
    same, order = split(IMAGES, LABELS), [0, 1, 3, 2]
    others = {
        "a pixel": split(pixel, LABELS),
        "a label": split(IMAGES, label),
        "the shape": split(IMAGES.reshape(4, 14, 56), LABELS),
        "the kind": split(IMAGES.view(np.int8), LABELS),
        "the order": split(IMAGES[order], LABELS[order]),
        "the test part": Split(same.train, Images(IMAGES[1:3], LABELS[1:3])),
    }
    found = {what: fingerprint_of(other) for what, other in others.items()}
    assert len({*found.values(), fingerprint_of(same)}) == 1 + len(others), found
