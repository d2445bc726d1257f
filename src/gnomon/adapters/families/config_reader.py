"""Reads keys of a model's config under their many names, and remembers which key gave each value."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

from gnomon.adapters.plausible import LARGEST_SIZE, WIDEST_HEAD

WIDTH = ("hidden_size", "n_embd", "d_model", "n_embed", "dim")
HEADS = ("num_attention_heads", "n_head", "n_heads", "encoder_attention_heads", "num_heads")
LENGTH = ("max_position_embeddings", "n_positions", "max_seq_len", "n_ctx", "seq_length")
LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers", "depth")


@dataclass(frozen=True)
class Found:
    """A value and the key it came from; the key is "default" when no key of the config gave it."""

    value: Any
    key: str

    @property
    def integer(self) -> int | None:
        """The value if it is a whole number above zero, and no larger than a size can be."""
        return self.up_to(LARGEST_SIZE)

    def up_to(self, most: int) -> int | None:
        """The value if it is a whole number from 1 to `most`: what a claim counts with."""
        return self.value if type(self.value) is int and 0 < self.value <= most else None


@final
class ConfigReader:
    """Looks keys up, first name first; a key whose value is null counts as not given.

    >>> ConfigReader({"n_embd": 768, "attn_config": {"alibi": True}}).find("hidden_size", "n_embd")
    Found(value=768, key='n_embd')
    """

    def __init__(self, config: Mapping[str, Any], *, prefix: str = "") -> None:
        self.config = config
        self._prefix = prefix

    def find(self, *keys: str, default: Any = None) -> Found:
        """The first of `keys` (dots go into nested mappings) that has a value."""
        for key in keys:
            value: Any = self.config
            for part in key.split("."):
                value = value.get(part) if isinstance(value, Mapping) else None
            if value is not None:
                return Found(value, self._prefix + key)
        return Found(default, "default")

    def mapping(self, key: str) -> Mapping[str, Any]:
        """The nested mapping under `key`; empty when there is none."""
        value = self.config.get(key)
        return value if isinstance(value, Mapping) else {}

    def names(self, key: str) -> tuple[str, ...]:
        """The distinct strings of the list under `key`, in order."""
        value = self.config.get(key)
        return tuple(dict.fromkeys(v for v in value if isinstance(v, str))) if isinstance(value, (list, tuple)) else ()

    def named(self, key: str) -> str:
        """`key` as it is written from the top of the config."""
        return self._prefix + key

    def head_dim(self) -> Found:
        """Width of one head: `head_dim` unless null or zero, else hidden size // heads (Hugging Face's rule)."""
        given = self.find("head_dim", "attention_head_size", "kv_channels")
        if given.integer:
            return given if given.up_to(WIDEST_HEAD) else Found(None, given.key)
        width, heads = self.find(*WIDTH), self.find(*HEADS)
        if not width.integer or not heads.integer:
            return Found(None, "default")
        derived = Found(width.integer // heads.integer, f"{width.key} // {heads.key}")
        return derived if derived.up_to(WIDEST_HEAD) else Found(None, derived.key)


def inner(reader: ConfigReader) -> ConfigReader:
    """The part of a composite config that describes the text model; the config itself when it is not composite."""
    for key in ("text_config", "llm_config", "language_config"):
        if reader.mapping(key):
            return ConfigReader(reader.mapping(key), prefix=reader.named(key) + ".")
    return reader


def seen(reader: ConfigReader) -> ConfigReader:
    """The part of a composite config that describes the image model; the config itself when it is not composite."""
    key = "vision_config"
    return ConfigReader(reader.mapping(key), prefix=reader.named(key) + ".") if reader.mapping(key) else reader
