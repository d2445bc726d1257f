"""What a config says of rotation, for each kind of layer, in every form that Hugging Face has written it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, final

from gnomon.adapters.claims import Claim
from gnomon.adapters.families import entry_of
from gnomon.adapters.families.config_reader import LENGTH, ConfigReader, inner
from gnomon.adapters.families.entry import based
from gnomon.adapters.families.published import code_base, code_share
from gnomon.adapters.families.rope_parameters import Rope, read_ropes
from gnomon.adapters.families.rotary_rule import Fraction, FullHead, Rotation
from gnomon.adapters.families.rules import Rule, Switch
from gnomon.adapters.subject import MissingEvidence
from gnomon.errors import GnomonError
from gnomon.extending.rotary.held import Held, number, whole
from gnomon.extending.rotary.statements import BLOCKS, require_one_statement

WINDOWED: Final = ("sliding_attention", "chunked_attention")
WINDOWS: Final = ("sliding_window", "attention_chunk_size", "local_attention")
#: families in which a window holds in every layer that turns
ALL_WINDOWED: Final = {
    "mistral": "sliding_window",
    "mixtral": "sliding_window",
    "starcoder2": "sliding_window",
    "llama4_text": "attention_chunk_size",
}
#: families whose class reads no scaling, and whose checkpoints store the frequencies that win over the base
STORED: Final = ("esm", "wav2vec2-conformer")
#: families that transformers reads a "yarn" block of as longrope, or of which it allows longrope alone
LONGROPE_ONLY: Final = ("phi3", "phimoe", "phi4_multimodal")
#: keys without which a config of an unknown family is not taken for a rotary one
SIGNS: Final = ("rope_theta", "rotary_emb_base", *BLOCKS)


@final
@dataclass(frozen=True)
class RotaryConfig:
    """The part of a config that the language model reads, with the path to it, and what turns its layers."""

    part: Mapping[str, Any]
    prefix: str
    model_type: str
    held: tuple[Held, ...]
    known: bool = True  #: whether gnomon knows the family; else it was read as a plain rotary one
    longrope_only: bool = False  #: its config may hold no other scaling
    fixed: bool = False  #: no key changes how this family turns (GPT-J, ESM)

    @property
    def nested(self) -> bool:
        """Whether kinds of layers have blocks of their own."""
        return self.held[0].kind is not None


def read_rotary(config: Mapping[str, Any]) -> RotaryConfig | None:
    """The rotation of a config's language model; None when it does not rotate. Raises GnomonError for one that
    contradicts itself.

    >>> read_rotary({"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "rope_theta": 5e5}).held
    (Held(kind=None, rule='default', base=500000.0, rotary_dim=16, values={}, base_key='rope_theta', windowed=False),)
    """
    rotation, reader, known = _rotation(config)
    if rotation is None:
        return None
    require_one_statement(reader, rotation)
    model_type = str(reader.config.get("model_type", config.get("model_type", "")))
    held = tuple(
        _held(rope, claim, reader, model_type)
        for rope, claim in zip(read_ropes(reader, rotation.base, rotation.kinds), rotation.claims(reader), strict=True)
        if rope.values is not None
    )
    if not held:
        return None
    if rotation.rotated == FullHead():
        _require_whole_head(held, reader, model_type)
    fixed = not rotation.base.base_keys or model_type in STORED
    only = model_type in LONGROPE_ONLY
    return RotaryConfig(reader.config, reader.named(""), model_type, held, known, only, fixed)


def _require_whole_head(held: tuple[Held, ...], reader: ConfigReader, model_type: str) -> None:
    beside = reader.config.get("partial_rotary_factor")
    shares = [number(one.values.get("partial_rotary_factor", beside)) for one in held if one.rule == "default"]
    if any(share not in (None, 1.0) for share in shares):
        raise GnomonError(
            f"The config has partial_rotary_factor, which a {model_type} without scaling passes over and one with "
            "scaling obeys, so fewer columns would turn than were trained; remove the key first."
        )


def _rotation(config: Mapping[str, Any]) -> tuple[Rotation | None, ConfigReader, bool]:
    try:
        entry, reader = entry_of(config)
    except MissingEvidence:
        reader = inner(ConfigReader(config))
        kind = reader.config.get("model_type")
        plain = Rotation(base=based(code_base(kind)), rotated=Fraction(code_share(kind)))
        return plain if any(reader.config.get(key) for key in SIGNS) else None, reader, False
    return next(_rotations(entry.rules, reader), None), reader, True


def _rotations(rules: tuple[Rule, ...], reader: ConfigReader) -> Iterator[Rotation]:
    for rule in rules:
        if isinstance(rule, Rotation):
            yield rule
        elif isinstance(rule, Switch):
            yield from _rotations(rule.chosen(reader), reader)


def _held(rope: Rope, claim: Claim, reader: ConfigReader, model_type: str) -> Held:
    values = rope.values or {}
    base, width = number(values["rope_theta"].value), whole(claim.options.get("rotary_dim"))
    if base is None or base <= 1:
        raise GnomonError(f"The base of the rotation is {values['rope_theta'].value!r}, which is no base.")
    if width is None:
        raise GnomonError("The config does not say how wide a head is, so its frequencies cannot be worked out.")
    if not isinstance(rope.type.value, str):
        raise GnomonError(f"The kind of scaling is {rope.type.value!r}, which is no name of one.")
    others = {key: found.value for key, found in values.items() if key != "rope_theta"}
    return Held(
        rope.kind,
        rope.type.value,
        base,
        width,
        others,
        values["rope_theta"].key.removeprefix(reader.named("")),
        _windowed(rope.kind, reader, model_type),
    )


def _windowed(kind: str | None, reader: ConfigReader, model_type: str) -> bool:
    if kind in WINDOWED:
        window, length = reader.find(*WINDOWS).integer, reader.find(*LENGTH).integer
        return not window or not length or window < length
    key = ALL_WINDOWED.get(model_type)
    window = reader.find(key).integer if key and kind is None else None
    types = reader.names("layer_types")
    return window is not None and not set(types) - set(WINDOWED) - {"full_attention"} and _no_full_layer(types, key)


def _no_full_layer(types: tuple[str, ...], key: str | None) -> bool:
    """Layers of full attention do not rotate in the families of chunks; elsewhere one of them is enough."""
    return key == "attention_chunk_size" or "full_attention" not in types


def stated_lengths(rotary: RotaryConfig) -> dict[str, int]:
    """Every key of the part that states a length, with it."""
    found = {key: whole(rotary.part.get(key)) for key in (*LENGTH, "max_sequence_length", "model_max_length")}
    return {key: value for key, value in found.items() if value is not None}
