"""How families declare positions: each rule turns a config into Claims, and never raises on the config's values."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, final

from gnomon.adapters.claims import Claim
from gnomon.adapters.families.config_reader import HEADS, LENGTH, WIDTH, ConfigReader, Found
from gnomon.adapters.plausible import MOST_HEADS, MOST_LAYERS
from gnomon.encodings.base import registry

ATTENTION = "layers.*.attention"
NOPE = "nope"  # layers without any encoding, under the name that gnomon registers


class Rule(ABC):
    """One way of declaring an encoding, as a family uses it."""

    @abstractmethod
    def claims(self, config: ConfigReader) -> Iterator[Claim]:
        """What this config claims by this rule; nothing when the rule does not apply."""


class Rows(NamedTuple):
    """Rows of a table, positions that can be used, and rows before position 0."""

    rows: int
    usable: int
    offset: int
    offset_key: str


RowRule = Callable[[ConfigReader, int], Rows]


def plain_rows(config: ConfigReader, length: int) -> Rows:
    """Row p is position p."""
    return Rows(length, length, 0, "default")


def extra_rows(count: int) -> RowRule:
    """The table is `count` rows longer than the stated length (OPT, BART)."""
    return lambda config, length: Rows(length + count, length, count, "default")


def reserved_rows(count: int) -> RowRule:
    """The stated length counts rows, of which the first `count` serve no position (MPNet)."""
    return lambda config, length: Rows(length, max(length - count, 0), count, "default")


def rows_after_padding(config: ConfigReader, length: int) -> Rows:
    """The stated length counts rows, and position 0 is row padding id + 1 (RoBERTa)."""
    padding = config.find("pad_token_id", "padding_idx", default=1)
    offset = padding.value + 1 if type(padding.value) is int else 2
    return Rows(length, max(length - offset, 0), offset, padding.key)


def extra_rows_after_padding(config: ConfigReader, length: int) -> Rows:
    """The table is 2 rows longer than the stated length, and position 0 is row padding id + 1 (M2M100)."""
    return rows_after_padding(config, length + 2)


@final
@dataclass(frozen=True)
class LearnedTable(Rule):
    """A trained table of positions added to the embeddings."""

    table: str
    where: str = "embeddings"
    rows: RowRule = plain_rows
    length: tuple[str, ...] = LENGTH
    width: tuple[str, ...] = WIDTH

    def claims(self, config: ConfigReader) -> Iterator[Claim]:
        length, width = config.find(*self.length), config.find(*self.width)
        found = {"dim": width} if width.integer else {}
        if length.integer is not None:
            rows = self.rows(config, length.integer)
            found["max_length"] = Found(rows.usable, length.key)
            found["rows"] = Found(rows.rows, length.key)
            found["padding_offset"] = Found(rows.offset, rows.offset_key)
        yield claim("learned", self.where, found, (self.table,))


@final
@dataclass(frozen=True)
class SinusoidTable(Rule):
    """A fixed table of sines and cosines added to the embeddings."""

    table: str
    layout: str
    exponent: str
    where: str = "embeddings"
    length: tuple[str, ...] = LENGTH
    width: tuple[str, ...] = WIDTH
    rows: RowRule = plain_rows

    def claims(self, config: ConfigReader) -> Iterator[Claim]:
        length, width = config.find(*self.length), config.find(*self.width)
        found = {"layout": Found(self.layout, "default"), "exponent": Found(self.exponent, "default")}
        if width.integer:
            found["dim"] = width
        if length.integer:
            rows = self.rows(config, length.integer)
            found["max_length"] = Found(rows.usable, length.key)
            found["rows"] = Found(rows.rows, length.key)
            if rows.offset:
                found["padding_offset"] = Found(rows.offset, rows.offset_key)
        yield claim("sinusoidal", self.where, found, (self.table,))


@final
@dataclass(frozen=True)
class LinearBias(Rule):
    """ALiBi: no table, only the number of heads (and MPT's largest exponent where it is not 8).

    `before_scale`: added before the logits are divided by the root of the head's width, and divided with them (Falcon).
    """

    bias_max: tuple[str, ...] = ()
    before_scale: bool = False

    def claims(self, config: ConfigReader) -> Iterator[Claim]:
        heads, steepest = config.find(*HEADS), config.find(*self.bias_max, default=8)
        found = {"num_heads": heads} if heads.up_to(MOST_HEADS) else {}
        if steepest.value != 8:
            found["alibi_bias_max"] = steepest
        width = config.head_dim()
        if self.before_scale and width.integer:
            found["logit_scale"] = Found(width.integer**-0.5, width.key)
        yield claim("alibi", ATTENTION, found)


@final
@dataclass(frozen=True)
class Stated(Rule):
    """An encoding whose options stand in the config one by one; `fixed` are those that the family's code decides, and
    `derived` those that are worked out from several keys.

    One that gnomon has no encoding for is claimed by its published name, and a note says so.
    """

    kind: str
    where: str = ATTENTION
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    derived: Mapping[str, Callable[[ConfigReader], Found]] = field(default_factory=dict)
    tables: tuple[str, ...] = ()

    def claims(self, config: ConfigReader) -> Iterator[Claim]:
        found = {name: config.find(*keys, default=self.defaults.get(name)) for name, keys in self.options.items()}
        found |= {name: Found(value, "default") for name, value in self.fixed.items()}
        found |= {name: derive(config) for name, derive in self.derived.items()}
        made = claim(self.kind, self.where, {n: f for n, f in found.items() if f.value is not None}, self.tables)
        unbuilt = self.kind not in registry
        yield replace(made, keys={**made.keys, "note": f"gnomon does not build {self.kind} yet"}) if unbuilt else made


@final
@dataclass(frozen=True)
class Switch(Rule):
    """One key decides between rules; a value that is not listed is claimed under its own name, for a check to judge."""

    key: str
    default: Any
    cases: Mapping[Any, tuple[Rule, ...]]

    def claims(self, config: ConfigReader) -> Iterator[Claim]:
        found = config.find(self.key, default=self.default)
        for rule in self.chosen(config):
            for made in rule.claims(config):
                yield replace(made, keys={"kind": found.key, **made.keys})

    def chosen(self, config: ConfigReader) -> tuple[Rule, ...]:
        """The rules that the key decides for."""
        value = config.find(self.key, default=self.default).value
        listed = isinstance(value, (str, bool, int)) and value in self.cases
        return self.cases[value] if listed else (Stated(str(value)),)


@final
@dataclass(frozen=True)
class LayersWithoutRotation(Rule):
    """A list of 0 and 1 for each layer, or every n-th layer, says which layers have no positions at all (SmolLM3)."""

    listed: str
    interval: str
    every: int

    def claims(self, config: ConfigReader) -> Iterator[Claim]:
        layers, flags = config.find("num_hidden_layers"), config.find(self.listed)
        if isinstance(flags.value, (list, tuple)) and flags.value:
            bare, key = [i for i, flag in enumerate(flags.value) if flag == 0], flags.key
        else:
            step = config.find(self.interval, default=self.every)
            bare, key = (
                list(range(step.integer - 1, layers.up_to(MOST_LAYERS) or 0, step.integer)) if step.integer else [],
                step.key,
            )
        if bare:
            yield Claim(NOPE, f"layers.{','.join(map(str, bare))}.attention", {}, {"layers": key})


@final
@dataclass(frozen=True)
class KindsWithoutRotation(Rule):
    """The layers of one kind have no positions at all (Cohere 2: the full-attention layers)."""

    layer_kind: str

    def claims(self, config: ConfigReader) -> Iterator[Claim]:
        yield Claim(NOPE, self.layer_kind, {}, {"layers": "default"})


@final
@dataclass(frozen=True)
class NoPositions(Rule):
    """Attention has no positions at all: state-space layers between bring the order (Nemotron-H)."""

    def claims(self, config: ConfigReader) -> Iterator[Claim]:
        yield Claim(NOPE, ATTENTION, {}, {"layers": "default"})


def claim(kind: str, where: str, found: Mapping[str, Found], tables: tuple[str, ...] = ()) -> Claim:
    """A Claim from values that know their keys."""
    options = {name: item.value for name, item in found.items()}
    return Claim(kind, where, options, {name: item.key for name, item in found.items()}, tables)
