"""The layout of rotated pairs, half or interleaved: told from a checkpoint, and changed in its rows.

`detect` says which of the two the rows of queries and keys are arranged for; `permute` writes a checkpoint with the
rows arranged for the other.
"""

from gnomon.layouts.detecting import detect
from gnomon.layouts.found import Detected, Evidence
from gnomon.layouts.permuting import Permuted, permute

__all__ = ["Detected", "Evidence", "Permuted", "detect", "permute"]
