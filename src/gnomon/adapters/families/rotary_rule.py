"""The rule for rotary families: how wide the rotation is, how dimensions are paired, and how frequencies are chosen."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, final

from gnomon.adapters.claims import Claim
from gnomon.adapters.families.config_reader import HEADS, LENGTH, ConfigReader, Found
from gnomon.adapters.families.frequency_rules import frequencies_of
from gnomon.adapters.families.rope_parameters import LayerKind, Rope, read_ropes
from gnomon.adapters.families.rules import ATTENTION, NOPE, Rule, claim
from gnomon.adapters.plausible import WIDEST_HEAD

#: what a reader wants to see beside the rotation; not arguments of Rotary
SHOWN: Mapping[str, tuple[str, ...]] = {
    "num_heads": HEADS,
    "num_key_heads": ("num_key_value_heads", "num_kv_heads", "n_head_kv"),
    "stated_length": LENGTH,
}
KIND = "{kind}"  # stands for the kind of layer in the name of a table
ROTARY_TABLES = (r"(^|\.)rotary_emb\.{kind}inv_freq$",)


class RotatedWidth(ABC):
    """How many dimensions of a head are rotated."""

    @abstractmethod
    def width(self, config: ConfigReader, rope: Mapping[str, Found], head_dim: int) -> Found:
        """The rotated width and the key that gave it."""


@final
@dataclass(frozen=True)
class FullHead(RotatedWidth):
    """All of them, whatever `partial_rotary_factor` says (Llama)."""

    def width(self, config: ConfigReader, rope: Mapping[str, Found], head_dim: int) -> Found:
        return Found(head_dim, "default")


@final
@dataclass(frozen=True)
class Fraction(RotatedWidth):
    """int(head_dim * factor); the factor stands among the rotary parameters or beside them, under several names."""

    default: float = 1.0
    keys: tuple[str, ...] = ("partial_rotary_factor", "rotary_pct", "rope_pct")

    def width(self, config: ConfigReader, rope: Mapping[str, Found], head_dim: int) -> Found:
        factor = rope.get("partial_rotary_factor") or config.find(*self.keys, default=self.default)
        number = factor.value if type(factor.value) in (int, float) else math.nan
        return Found(int(head_dim * number) if abs(number) <= WIDEST_HEAD else None, factor.key)


@final
@dataclass(frozen=True)
class CountOrFraction(RotatedWidth):
    """A count of dimensions where the config has one, else a fraction of the head (MiniMax-M2)."""

    fraction: Fraction = field(default_factory=Fraction)
    key: str = "rotary_dim"

    def width(self, config: ConfigReader, rope: Mapping[str, Found], head_dim: int) -> Found:
        stated = config.find(self.key)
        if stated.integer and "partial_rotary_factor" not in rope:
            return stated
        return self.fraction.width(config, rope, head_dim)


@final
@dataclass(frozen=True)
class Dimensions(RotatedWidth):
    """A count of dimensions; null or zero rotates the whole head (GPT-J)."""

    default: int
    key: str = "rotary_dim"

    def width(self, config: ConfigReader, rope: Mapping[str, Found], head_dim: int) -> Found:
        if self.key in config.config and config.config[self.key] in (None, 0):
            return Found(head_dim, config.named(self.key))
        return config.find(self.key, default=self.default)


@final
@dataclass(frozen=True)
class Sections:
    """How many pairs of a head turn by time, height and width, where a config does not say, and in which order."""

    default: tuple[int, int, int]
    arrangement: Literal["chunked", "interleaved"] = "chunked"

    def found(self, values: Mapping[str, Found]) -> dict[str, Found]:
        sizes = values.get("mrope_section", Found(list(self.default), "default"))
        return {"sections": sizes, "arrangement": Found(self.arrangement, "default")}


@final
@dataclass(frozen=True)
class Rotation(Rule):
    """Rotary encoding in every layer, or one for each kind of layer."""

    layout: Literal["half", "interleaved"] = "half"
    base: LayerKind = field(default_factory=lambda: LayerKind(10000.0, ("rope_theta", "rotary_emb_base")))
    kinds: Mapping[str, LayerKind] = field(default_factory=dict)
    rotated: RotatedWidth = field(default_factory=FullHead)
    head_dim: int | None = None  #: when the config does not name one at all
    sections: Sections | None = None  #: the pairs are shared out among coordinates (M-RoPE)
    head_keys: tuple[str, ...] = ()  #: where the width of the rotated part stands if it is not the head (DeepSeek)
    tables: tuple[str, ...] = ROTARY_TABLES

    def claims(self, config: ConfigReader) -> Iterator[Claim]:
        for rope in read_ropes(config, self.base, self.kinds):
            where = rope.kind or ATTENTION
            if rope.values is None:
                yield Claim(NOPE, where, {}, {"layers": config.named(f"rope_parameters.{rope.kind}")})
            else:
                yield self._claim(config, rope, rope.values, where)

    def _claim(self, config: ConfigReader, rope: Rope, values: Mapping[str, Found], where: str) -> Claim:
        rotated = self.rotated_by(rope.type.value)
        frequencies, keys = frequencies_of(config, rope.type.value, values)
        found = {"layout": Found(self.layout, "default"), "frequencies": Found(frequencies, rope.type.key)}
        head = self.head_width(config, rope.kind)
        if head.integer and _is_width(width := rotated.width(config, values, head.integer)):
            found = {"head_dim": head, "rotary_dim": width, **found}
        found |= {name: item for name, keys_of in SHOWN.items() if (item := config.find(*keys_of)).integer}
        of_kind = f"({rope.kind}_)?" if rope.kind else ""
        if self.sections is not None:
            found |= self.sections.found(values)
        made = claim(
            "rotary" if self.sections is None else "mrope",
            where,
            found,
            tuple(table.replace(KIND, of_kind) for table in self.tables),
        )
        return replace(made, keys={**made.keys, **keys})

    def rotated_by(self, rope_type: object) -> RotatedWidth:
        """Rules other than the plain one read the fraction for every family; the proportional one as its own option."""
        if rope_type == "proportional":
            return FullHead()
        return self.rotated if rope_type == "default" or self.rotated != FullHead() else Fraction()

    def head_width(self, config: ConfigReader, kind: str | None) -> Found:
        """The width that the share of rotated dimensions is taken of, in layers of that kind."""
        rule = self.kinds.get(kind) if kind else None
        own = None if rule is None else rule.head_dim
        if own is not None:
            return _of_single_layers(config) or config.find("global_head_dim", default=own)
        if self.head_keys and (found := config.find(*self.head_keys)).integer:
            return found
        unnamed = self.head_dim is not None and "head_dim" not in config.config
        return Found(self.head_dim, "default") if unnamed else config.head_dim()


def _of_single_layers(config: ConfigReader) -> Found | None:
    """The width of a head that transformers 5 writes for the layers which depart from `head_dim`."""
    key = "per_layer_config"
    for layer, fields in config.mapping(key).items():
        if isinstance(fields, Mapping) and (found := Found(fields.get("head_dim"), f"{key}.{layer}.head_dim")).integer:
            return replace(found, key=config.named(found.key))
    return None


def _is_width(found: Found) -> bool:
    """A number of lanes, right or wrong; with anything else nothing is claimed of the width of a head."""
    return type(found.value) is int and abs(found.value) <= WIDEST_HEAD
