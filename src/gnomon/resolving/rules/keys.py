"""Reads keys of a file for one stack and remembers which it took, which lost to another, and which nobody asked for."""

from collections.abc import Iterator, Mapping
from typing import Any, Self, final

from gnomon.resolving.reading import DEFAULT, SERVED, Ignored, Used
from gnomon.resolving.rules.numbers import finite
from gnomon.resolving.stopping import StackStops

BLOCKS = ("rope_parameters", "rope_scaling")
PARTS = ("text_config", "llm_config", "language_config")
#: keys outside a rotary block that say something of rotation, logit scale or length
POSITION_KEYS = frozenset(
    {
        *("rope_theta", "rotary_emb_base", "rope_base", "rope_ratio", "rope_local_base_freq", "global_rope_theta"),
        *("local_rope_theta", "partial_rotary_factor", "rotary_pct", "rope_pct", "rope_percent", "rotary_dim"),
        *("rotary_emb_fraction", "qk_rope_head_dim", "original_max_position_embeddings", "max_position_embeddings"),
        *("n_positions", "n_ctx", "max_sequence_length", "model_max_length", "seq_length", "max_seq_len"),
        *("no_rope_layers", "no_rope_layer_interval", "use_sliding_window", "rope_embedding_base"),
        *("query_pre_attn_scalar", "llama_4_scaling_beta", "attn_temperature_tuning", "attn_scale", "floor_scale"),
    }
)


@final
class Keys:
    """A view of one mapping of the file. Views of inner mappings (`part`) share one record.

    A key whose value is null counts as not given, as in every stack read so far; `has` tells such a key apart.

    >>> keys = Keys({"rope_theta": 5e5, "rope_scaling": {"type": "yarn", "rope_type": "linear"}, "rotary_pct": 0.5})
    >>> keys.number("base", "rope_theta", default=1e4), keys.text("kind", "rope_scaling.rope_type", "rope_scaling.type")
    (500000.0, 'linear')
    >>> [(item.key, item.why) for item in keys.ignored()]
    [('rope_scaling.type', 'rope_scaling.rope_type wins'), ('rotary_pct', 'not read')]
    """

    def __init__(
        self,
        values: Mapping[str, Any],
        *,
        prefix: str = "",
        record: "_Record | None" = None,
        origins: Mapping[str, str] | None = None,
    ) -> None:
        self.values = values
        self._prefix = prefix
        self._record = record or _Record(values)
        self._origins = origins or {}

    def part(self, name: str) -> Self:
        """The mapping under `name`; an empty one when there is none."""
        inner = self.values.get(name)
        held = inner if isinstance(inner, Mapping) else {}
        return type(self)(held, prefix=f"{self._prefix}{name}.", record=self._record)

    def laid(self, values: Mapping[str, Any], origins: Mapping[str, str]) -> Self:
        """A view of values that a stack has gathered from many places; `origins` says the dotted path of each.

        A value without one is the stack's own default.
        """
        return type(self)(values, record=self._record, origins={**dict.fromkeys(values, DEFAULT), **origins})

    def paths(self, *names: str) -> dict[str, str]:
        """The dotted path of each key from the top of the file, as `laid` takes them."""
        return {name: self._path(name) for name in names}

    def has(self, name: str) -> bool:
        """Whether a dotted key stands in the file, null or not; this alone does not count as reading it."""
        *outer, last = name.split(".")
        place: Any = self.values
        for step in outer:
            place = place.get(step) if isinstance(place, Mapping) else None
        return isinstance(place, Mapping) and last in place

    def take(self, what: str, *names: str, default: Any = None) -> Any:
        """The first of the dotted `names` that has a value, else the default; the record says which key gave `what`."""
        given = [(name, value) for name in names if (value := self._value(name)) is not None]
        if not given:
            if default is not None:
                self._record.used.append(Used(what, default))
            return default
        winner, value = given[0]
        self._record.used.append(Used(what, value, self._path(winner)))
        for name, _ in given[1:]:
            self.lose(name, f"{self._path(winner)} wins")
        return value

    def number(self, what: str, *names: str, default: float | None = None) -> Any:
        """As `take`, a float; raises StackStops for a value that is no finite number."""
        value = self.take(what, *names, default=default)
        if value is None:
            return None
        if not finite(value):
            raise StackStops(f"{self._last_key()} is {value!r}, which is no number")
        return float(value)

    def whole(self, what: str, *names: str, default: int | None = None) -> Any:
        """As `number`, an int; raises StackStops for a number that is not whole."""
        value = self.number(what, *names, default=default)
        if value is not None and value != int(value):
            raise StackStops(f"{self._last_key()} is {value!r}, which is not whole")
        return None if value is None else int(value)

    def text(self, what: str, *names: str, default: str | None = None) -> Any:
        """As `take`, a text; raises StackStops for a value of another kind."""
        value = self.take(what, *names, default=default)
        if value is not None and not isinstance(value, str):
            raise StackStops(f"{self._last_key()} is {value!r}, which is no text")
        return value

    def numbers(self, what: str, *names: str) -> Any:
        """As `take`, a tuple of floats; raises StackStops for anything but a list of finite numbers."""
        value = self.take(what, *names)
        if value is None:
            return None
        if not (isinstance(value, list | tuple) and all(map(finite, value))):
            raise StackStops(f"{self._last_key()} is no list of numbers")
        return tuple(float(v) for v in value)

    def note(self, what: str, value: Any, key: str = DEFAULT) -> None:
        """Records what the stack decides by a rule of its own; `key` is that of the file, "default" or "served"."""
        self._record.used.append(Used(what, value, self._path(key)))

    def lose(self, name: str, why: str) -> None:
        """Records why the stack passes over a key of this mapping; nothing happens when the file lacks it."""
        if (value := self._value(name)) is not None and self._path(name) != DEFAULT:
            self._record.lost.append(Ignored(self._path(name), value, why))

    def used(self) -> tuple[Used, ...]:
        """What was taken so far, in order, each once."""
        return tuple({(item.what, item.key): item for item in self._record.used}.values())

    def ignored(self) -> tuple[Ignored, ...]:
        """The keys of the file that bear on positions and were not taken, those that lost to another one first."""
        taken = {item.key for item in self._record.used}
        lost = {item.key: item for item in self._record.lost if item.key not in taken}
        others = [
            Ignored(key, value)
            for key, value in position_keys(self._record.root)
            if key not in taken and key not in lost
        ]
        return (*lost.values(), *others)

    def _value(self, name: str) -> Any:
        place: Any = self.values
        for step in name.split("."):
            place = place.get(step) if isinstance(place, Mapping) else None
        return place

    def _path(self, name: str) -> str:
        return name if name in (DEFAULT, SERVED) else self._origins.get(name, self._prefix + name)

    def _last_key(self) -> str:
        return self._record.used[-1].key


@final
class _Record:
    """What all views of one file share."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self.root = root
        self.used: list[Used] = []
        self.lost: list[Ignored] = []


def position_keys(config: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every key of a config that bears on positions, by its dotted path, with its value; null values are left out."""
    for key, value in config.items():
        if value is None:
            continue
        if key in BLOCKS and isinstance(value, Mapping):
            yield from _leaves(value, f"{prefix}{key}.")
        elif key in PARTS and isinstance(value, Mapping):
            yield from position_keys(value, f"{prefix}{key}.")
        elif key in POSITION_KEYS:
            yield f"{prefix}{key}", value


def _leaves(block: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for key, value in block.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{prefix}{key}.")
        elif value is not None:
            yield f"{prefix}{key}", value
