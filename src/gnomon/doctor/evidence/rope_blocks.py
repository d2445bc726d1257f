"""The rotary blocks of a config: `rope_scaling`, `rope_parameters`, and those inside them for each kind of layer."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gnomon.doctor.evidence.configs import config_parts

NAMES = ("rope_scaling", "rope_parameters")
ALIASES = {"su": "longrope"}


@dataclass(frozen=True)
class RopeBlock:
    """One block: where it stands, what it holds, the kind of layer it is for, and the part of the config around it."""

    where: str
    values: Mapping[str, Any]
    part: Mapping[str, Any]
    layer_kind: str | None = None

    @property
    def kind(self) -> Any:
        """The scaling kind under either spelling; "default" when none is given."""
        return self.values.get("rope_type") or self.values.get("type") or "default"

    @property
    def rule(self) -> str:
        """The kind under the name that it has today."""
        return ALIASES.get(str(self.kind), str(self.kind))

    def number(self, *keys: str) -> float | None:
        """The first of `keys` that holds a number above zero, in the block and then beside it."""
        for place in (self.values, self.part):
            for key in keys:
                if (value := positive(place.get(key))) is not None:
                    return value
        return None


def rope_blocks(config: Mapping[str, Any]) -> Iterator[RopeBlock]:
    """Every block of a config and of the configs inside it.

    >>> [block.where for block in rope_blocks({"text_config": {"rope_scaling": {"type": "linear", "factor": 2}}})]
    ['text_config.rope_scaling']
    """
    for prefix, part in config_parts(config):
        for name in NAMES:
            block = part.get(name)
            if not isinstance(block, Mapping):
                continue
            nested = {key: value for key, value in block.items() if isinstance(value, Mapping)}
            for key, value in nested.items():
                yield RopeBlock(f"{prefix}{name}.{key}", value, part, str(key))
            if not nested:
                yield RopeBlock(prefix + name, block, part)


def positive(value: Any) -> float | None:
    """The value if it is a finite number above zero."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e30:
        return None
    return float(value)
