"""The limits that measured numbers are held against, each with the reason for it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Threshold:
    """A limit and why it stands where it stands."""

    value: float
    why: str


OUTPUT = Threshold(
    1e-3,
    "of the largest output; 18 healthy families stayed below 2e-5 in float32, faults start at 8e-3",
)
TABLE = Threshold(
    2e-4, "float32 tables are good to 1e-5 over the first hundred positions; wrong formulas differ by 0.1 and more"
)
HALF_TABLE = Threshold(8e-3, "rounding a finished table to bfloat16 costs up to 4e-3; rounded angles cost 0.1 and more")
