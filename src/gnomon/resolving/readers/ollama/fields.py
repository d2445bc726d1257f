"""Fields of a config as Go's JSON decoder sees them: a missing number is 0, a missing text is empty."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

from gnomon.adapters.families.config_reader import Found
from gnomon.resolving.reading import DEFAULT
from gnomon.resolving.rules.numbers import finite
from gnomon.resolving.stopping import StackStops

MOST = 2**32


@final
@dataclass(frozen=True, eq=False)
class Fields:
    """One struct; `prefix` is its place in the file."""

    values: Mapping[str, Any]
    prefix: str = ""

    def inner(self, name: str) -> "Fields":
        """A struct within; one without values where the file has none."""
        held = self.values.get(name)
        if held is not None and not isinstance(held, Mapping):
            raise StackStops(f"json: cannot unmarshal {held!r} into {self.prefix}{name}")
        return Fields(held or {}, f"{self.prefix}{name}.")

    def number(self, *names: str, default: float = 0.0) -> Found:
        """The first of the names whose value is not 0."""
        for name in names:
            value = self.values.get(name)
            if value is None:
                continue
            if not finite(value):
                raise StackStops(f"json: cannot unmarshal {value!r} into {self.prefix}{name}")
            if value:
                return Found(float(value), self.prefix + name)
        return Found(default, DEFAULT)

    def whole(self, *names: str, default: int = 0) -> Found:
        """As `number`, for an unsigned whole number."""
        found = self.number(*names, default=default)
        if found.value != int(found.value) or not 0 <= found.value < MOST:
            raise StackStops(f"json: cannot unmarshal {found.value!r} of {found.key} into a uint32")
        return Found(int(found.value), found.key)

    def text(self, name: str) -> Found:
        """A text, empty where there is none."""
        value = self.values.get(name)
        if value is None:
            return Found("", DEFAULT)
        if not isinstance(value, str):
            raise StackStops(f"json: cannot unmarshal {value!r} into {self.prefix}{name}")
        return Found(value, self.prefix + name)

    def numbers(self, name: str) -> tuple[float, ...]:
        """A list of numbers, empty where there is none."""
        value = self.values.get(name)
        if value is None:
            return ()
        if not isinstance(value, list | tuple) or not all(finite(v) for v in value):
            raise StackStops(f"json: cannot unmarshal {self.prefix}{name} into a list of numbers")
        return tuple(float(v) for v in value)
