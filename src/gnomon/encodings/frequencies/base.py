"""How the frequencies of a rotary encoding are chosen: one number in radians per position for each rotated pair."""

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self, final

import numpy as np
from jaxtyping import Float64

from gnomon.encodings.base import check_options
from gnomon.errors import GnomonError
from gnomon.registry import Registry

registry: Registry[type["Frequencies"]] = Registry("frequencies", package="gnomon.encodings.frequencies")


@final
@dataclass(frozen=True)
class Bands:
    """What a rule did to the trained frequencies, as a number of pairs; fast pairs come first, so the bands do too.

    `kept` pairs turn as trained, `blended` ones are slowed in part, `divided` ones by the whole factor, and `still`
    ones do not turn at all.
    """

    kept: int = 0
    blended: int = 0
    divided: int = 0
    still: int = 0

    @classmethod
    def of(cls, share: Float64[np.ndarray, " pairs"]) -> Self:
        """From the share of each pair that is divided, 0 to 1."""
        kept, divided = int((share == 0).sum()), int((share == 1).sum())
        return cls(kept, len(share) - kept - divided, divided)


class Frequencies(ABC):
    """A rule from the rotated width to inverse frequencies, in float64 and without state.

    `length_dependent` says whether the numbers change with the length of the sequence.
    """

    length_dependent: ClassVar[bool] = False

    @abstractmethod
    def inverse(self, rotary_dim: int) -> Float64[np.ndarray, " pairs"]:
        """rotary_dim -> (rotary_dim / 2,) float64, radians per position, fastest first."""

    @abstractmethod
    def bands(self, rotary_dim: int) -> Bands:
        """How many pairs are kept, blended, divided and still; a factor of 1 keeps all."""

    @property
    def attention_factor(self) -> float:
        """What cos and sin are multiplied by; 1 unless the rule says otherwise."""
        return 1.0

    @property
    @abstractmethod
    def options(self) -> dict[str, Any]:
        """The constructor's arguments as plain JSON values."""

    def to_dict(self) -> dict[str, Any]:
        """`{"kind": name, **options}`, the form that `build_frequencies` reads."""
        for name, cls in registry:
            if cls is type(self):
                return {"kind": name, **self.options}
        raise GnomonError(f"{type(self).__name__} is not registered; decorate it with @registry.register(name).")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.options == getattr(other, "options", None)

    def __hash__(self) -> int:
        return hash((type(self), json.dumps(self.options, sort_keys=True)))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{key}={value!r}' for key, value in self.options.items())})"


def build_frequencies(fields: Mapping[str, Any]) -> Frequencies:
    """Build from `{"kind": name, **options}`; unknown kinds and options are errors that list the valid ones."""
    options = dict(fields)
    kind = options.pop("kind", None)
    if not isinstance(kind, str):
        raise GnomonError(f"Frequencies need a 'kind', one of {', '.join(registry.names())}; got {dict(fields)!r}.")
    cls = registry.get(kind)
    check_options(cls, kind, options)
    return cls(**options)


def blended(
    plain: Float64[np.ndarray, " pairs"], share: Float64[np.ndarray, " pairs"], factor: float
) -> Float64[np.ndarray, " pairs"]:
    """Frequencies of which `share` is divided by `factor` and the rest is kept."""
    mixed: Float64[np.ndarray, " pairs"] = share * plain / factor + (1 - share) * plain
    return mixed


def check_factor(factor: float, rule: str) -> float:
    """The factor of a longer context as a float; raises GnomonError unless it is finite and at least 1."""
    if not (math.isfinite(factor) and factor >= 1):
        raise GnomonError(f"The factor of {rule} must be a finite number of at least 1, got {factor}.")
    return float(factor)


def check_positive(value: float, what: str) -> float:
    """The value as a float; raises GnomonError unless it is finite and above 0."""
    if not (math.isfinite(value) and value > 0):
        raise GnomonError(f"{what} must be a finite number above 0, got {value}.")
    return float(value)
