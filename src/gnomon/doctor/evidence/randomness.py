"""Does a table that should be computed hold random numbers? In every formula for positions neighbours are alike."""

import re

import numpy as np
from jaxtyping import Float64

from gnomon.adapters.tensors import TensorInfo

FIXED_NAME = re.compile(r"\w*(sinus|sincos|sin_cos)\w*", re.IGNORECASE)
ALIKE = 0.3  # median cosine of neighbours: 0 for noise, above 0.8 for sinusoids, 1-D or of a grid
FEWEST = 8  # rows and dimensions
FEW_VALUES = 16  # distinct numbers: a one-hot or binary code, which is no noise


def called_fixed(info: TensorInfo) -> bool:
    """Whether the name, the class that holds it, or its being a buffer says that a table is computed, not learned."""
    named = bool(FIXED_NAME.search(info.name) or FIXED_NAME.search(info.owner)) and "learn" not in info.owner.lower()
    return named or info.role == "buffer"


def neighbours(rows: Float64[np.ndarray, "rows dims"]) -> float:
    """The median cosine of neighbouring rows; 0 when there are too few of them."""
    lengths = np.linalg.norm(rows, axis=1)
    if len(rows) < 2 or not lengths.any():
        return 0.0
    near = (rows[1:] * rows[:-1]).sum(axis=1) / np.maximum(lengths[1:] * lengths[:-1], 1e-30)
    return float(np.median(near))


def is_noise(rows: Float64[np.ndarray, "rows dims"]) -> bool:
    """Whether neighbouring rows are unrelated, and the numbers are not those of a code."""
    if min(rows.shape) < FEWEST or not np.isfinite(rows).all() or not rows.any():
        return False
    return neighbours(rows) < ALIKE and len(np.unique(rows[:64])) > FEW_VALUES
