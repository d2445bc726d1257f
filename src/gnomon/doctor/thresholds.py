"""The limits that measured numbers are held against, each with the reason for it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Threshold:
    """A limit and why it stands where it stands."""

    value: float
    why: str


OUTPUT = Threshold(
    1e-3,
    "relative to the largest output; healthy float32 models stay below 1e-4 in 18 families, faults start at 8e-3",
)
TABLE = Threshold(2e-4, "float32 angles are good to 1e-4 up to position 10,000; wrong formulas differ by 0.1 and more")
HALF_TABLE = Threshold(8e-3, "rounding a finished table to bfloat16 costs up to 4e-3; rounded angles cost 0.1 and more")
