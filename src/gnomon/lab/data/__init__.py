"""Data for tasks: text and labelled examples from packages, kept in a cache and checked.

Long text as tokens is in `gnomon.lab.data.corpus`, which imports torch; nothing here does.
"""

from gnomon.lab.data.cache import Stored, load
from gnomon.lab.data.dataset import DataSet, registry
from gnomon.lab.data.fetching import fetch

__all__ = ["DataSet", "Stored", "fetch", "load", "registry"]
