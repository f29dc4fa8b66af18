"""The original files of data sets that are no images, each read once, by `data import`; free of torch."""

from dpcore.data.originals.adult import ADULT_FILES
from dpcore.data.originals.imdb import IMDB_FILES
from dpcore.data.originals.movielens import MOVIELENS_FILES

READERS = {each.dataset: each for each in (ADULT_FILES, IMDB_FILES, MOVIELENS_FILES)}
