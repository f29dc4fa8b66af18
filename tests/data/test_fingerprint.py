"""A fingerprint of data changes with every example and label, and with nothing else."""

import time

import numpy as np
import pytest

from dpcore.data.fingerprint import fingerprint_of
from dpcore.data.loading import Images, Split, load


def split(images: np.ndarray, labels: np.ndarray) -> Split:
    return Split(Images(images, labels), Images(images[:2], labels[:2]))


IMAGES = np.arange(4 * 28 * 28, dtype=np.uint8).reshape(4, 28, 28)
LABELS = np.array([3, 1, 2, 0], dtype=np.uint8)


def test_the_same_numbers_have_the_same_fingerprint_wherever_they_lie() -> None:
    doubled = np.repeat(IMAGES, 2, axis=0)[::2]
    assert not doubled.flags.c_contiguous
    assert fingerprint_of(split(doubled, LABELS.copy())) == fingerprint_of(split(IMAGES, LABELS))


@pytest.mark.parametrize("what", ["a pixel", "a label", "the shape", "the kind", "the order", "the test part"])
def test_whatever_is_different_has_another(what: str) -> None:
    images, labels = IMAGES.copy(), LABELS.copy()
    if what == "a pixel":
        images[3, 27, 27] += 1
    if what == "a label":
        labels[3] += 1
    if what == "the shape":
        images = images.reshape(4, 14, 56)
    if what == "the kind":
        images = images.view(np.int8)
    if what == "the order":
        images, labels = images[[0, 1, 3, 2]], labels[[0, 1, 3, 2]]
    other = split(images, labels)
    if what == "the test part":
        other = Split(other.train, Images(images[1:3], labels[1:3]))
    assert fingerprint_of(other) != fingerprint_of(split(IMAGES, LABELS))


def test_a_sample_takes_no_time_that_anybody_notices() -> None:
    data = load("fashion_mnist", "sample")
    fresh = Split(Images(data.train.images, data.train.labels), Images(data.test.images, data.test.labels))
    start = time.process_time()
    found = fingerprint_of(fresh)
    assert time.process_time() - start < 0.1
    assert fingerprint_of(data) == found
