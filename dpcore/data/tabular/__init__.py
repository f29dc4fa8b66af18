"""Tables with two classes for the comparison of perturbation methods; free of torch, so that pages
may import them.
"""

from dpcore.data.tabular.tables import ORIGINALS, TABLES

__all__ = ["ORIGINALS", "TABLES"]
