"""What a case is: a description, and the advice that is expected of it."""

from dataclasses import dataclass, field
from typing import Any

from gnomon.advisor import ModelSizes


@dataclass(frozen=True)
class Case:
    """One description, as arguments of `gnomon.advise`, and what is expected of the answer."""

    name: str
    given: dict[str, Any]
    first: str
    checks: tuple[str, ...]
    options: dict[str, Any] = field(default_factory=dict)
    numbers: dict[str, Any] = field(default_factory=dict)
    behind: tuple[str, ...] = ()
    out: tuple[str, ...] = ()


SMALL = ModelSizes(dim=512, num_heads=8)
