"""How the frequencies of a rotary encoding are chosen: one number in radians per position for each rotated pair."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float64

from gnomon.encodings.base import check_options
from gnomon.errors import GnomonError
from gnomon.registry import Registry

registry: Registry[type["Frequencies"]] = Registry("frequencies", package="gnomon.encodings.frequencies")


class Frequencies(ABC):
    """A rule from the rotated width to inverse frequencies, in float64 and without state.

    `length_dependent` says whether the numbers change with the length of the sequence.
    """

    length_dependent: ClassVar[bool] = False

    @abstractmethod
    def inverse(self, rotary_dim: int) -> Float64[np.ndarray, " pairs"]:
        """rotary_dim -> (rotary_dim / 2,) float64, radians per position, fastest first."""

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
        return hash((type(self), tuple(sorted(self.options.items()))))

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
