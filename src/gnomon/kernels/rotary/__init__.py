"""Rotation of queries and keys: one call, several equal ways to do it, chosen by what is given.

`apply_rotary` turns q and k; `ROTATION` forces one way, for tests, benchmarks and the self-test.
"""

from gnomon.kernels.rotary.apply import apply_rotary
from gnomon.kernels.rotary.choosing import PATHS, ROTATION

__all__ = ["PATHS", "ROTATION", "apply_rotary"]
