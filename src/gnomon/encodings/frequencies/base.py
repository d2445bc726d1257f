"""How the frequencies of a rotary encoding are chosen: one number in radians per position for each rotated pair."""

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, final

import numpy as np
from jaxtyping import Float64

from gnomon.encodings.base import check_options
from gnomon.errors import GnomonError
from gnomon.registry import Registry

if TYPE_CHECKING:
    from gnomon.encodings.frequencies.plain import Plain

OTHER_NAMES = {
    "default": "plain",
    "pi": "linear",
    "ntk-aware": "ntk",
    "dynamic-ntk": "dynamic",
    "ntk-by-parts": "by_parts",
    "su": "longrope",
    "p-rope": "proportional",
    "p_rope": "proportional",
}

registry: Registry[type["Frequencies"]] = Registry(
    "frequencies", package="gnomon.encodings.frequencies", also=OTHER_NAMES
)


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

    `length_dependent` says whether the numbers change with the length of the sequence. Such a rule gives those of the
    trained length itself, and `at_length` gives the rule for another one.
    """

    length_dependent: bool = False

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
    def norm_preserving(self) -> bool:
        """Whether the attention factor is 1 at every length, so that a rotation keeps the length of a vector."""
        return self.attention_factor == 1.0

    def regime(self, length: int) -> int:
        """The shortest length with the same frequencies as this one; 0 for a rule that asks for no length."""
        return 0

    def at_length(self, length: int) -> "Frequencies":
        """The rule with the frequencies of sequences of this length, which no longer asks for one; itself by default.

        >>> from gnomon.encodings.frequencies import Linear
        >>> Linear(factor=4.0).at_length(100_000)
        Linear(factor=4.0, base=10000.0)
        """
        return self

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


class Blended(Frequencies):
    """A rule that divides a share of each plain frequency by `factor` and keeps the rest of it."""

    factor: float
    plain: "Plain"

    def inverse(self, rotary_dim: int) -> Float64[np.ndarray, " pairs"]:
        plain, share = self.plain.inverse(rotary_dim), self._share(rotary_dim)
        mixed: Float64[np.ndarray, " pairs"] = share * plain / self.factor + (1 - share) * plain
        return mixed

    def bands(self, rotary_dim: int) -> Bands:
        return Bands(kept=rotary_dim // 2) if self.factor == 1 else Bands.of(self._share(rotary_dim))

    @abstractmethod
    def _share(self, rotary_dim: int) -> Float64[np.ndarray, " pairs"]:
        """The share of each pair that is divided, 0 to 1."""


class Growing(Frequencies):
    """A rule that is plain up to the trained length, `original_max_length`, and stretches with the sequence above it.

    Every length above has frequencies of its own.
    """

    length_dependent: bool = True
    original_max_length: float
    plain: "Plain"

    def inverse(self, rotary_dim: int) -> Float64[np.ndarray, " pairs"]:
        self._stretched(1.0).inverse(rotary_dim)  # a width that fails in long sequences only is an error now
        return self.plain.inverse(rotary_dim)

    def bands(self, rotary_dim: int) -> Bands:
        return self.plain.bands(rotary_dim)

    def regime(self, length: int) -> int:
        return length if length > self.original_max_length else 0

    def at_length(self, length: int) -> Frequencies:
        """The plain rule up to the trained length, the stretched one above it."""
        return self._stretched(length / self.original_max_length) if self.regime(length) else self.plain

    @abstractmethod
    def _stretched(self, ratio: float) -> Frequencies:
        """The rule of a sequence that is `ratio` times as long as the trained length."""


def build_frequencies(fields: Mapping[str, Any]) -> Frequencies:
    """Build from `{"kind": name, **options}`; unknown kinds and options are errors that list the valid ones."""
    options = dict(fields)
    kind = options.pop("kind", None)
    if not isinstance(kind, str):
        raise GnomonError(f"Frequencies need a 'kind', one of {', '.join(registry.names())}; got {dict(fields)!r}.")
    cls = registry.get(kind)
    check_options(cls, kind, options)
    return cls(**options)


def as_frequencies(given: Frequencies | Mapping[str, Any]) -> Frequencies:
    """A rule as it is, or built from its dict form."""
    if not isinstance(given, Frequencies | Mapping):
        raise GnomonError(f"Frequencies are a rule such as Plain(10000.0) or {{'kind': ...}}, got {given!r}.")
    return build_frequencies(given) if isinstance(given, Mapping) else given


def fixed_frequencies(given: Frequencies | Mapping[str, Any], owner: str) -> Frequencies:
    """As `as_frequencies`; raises GnomonError for a rule that depends on the length of the sequence."""
    rule = as_frequencies(given)
    if rule.length_dependent:
        raise GnomonError(
            f"{owner} takes frequencies that do not change with the length of the sequence, got {rule}; fix them with "
            f"its at_length(length)."
        )
    return rule


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
