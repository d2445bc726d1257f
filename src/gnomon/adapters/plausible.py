"""Sizes that a config states are believed only up to what a model can have: nothing is allocated on its word alone."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from gnomon.adapters.subject import MissingEvidence

LARGEST_SIZE = 2**27  #: of any width, vocabulary or length; the longest context stated today is 10 million
WIDEST_HEAD = 65_536
MOST_HEADS = 4_096
MOST_LAYERS = 1_000
MOST_EXPERTS = 32_768

SIZES = "size|dim|width|embd|embed|model|ff|inner|positions|embeddings|ctx|length|len|bins|buckets|rank"
#: by the end of a key, as the families write it (num_hidden_layers, n_layer, n_embd, d_model); the first match counts
LIMITS = {
    re.compile(r"(^|_)(layers?|blocks|depth)$"): MOST_LAYERS,
    re.compile(r"(^|_)experts?$"): MOST_EXPERTS,
    re.compile(r"(^|_)heads?(_kv)?$"): MOST_HEADS,
    re.compile(r"(^|_)head_(dim|size)$|^d_kv$|^rotary_dim$|^kv_channels$"): WIDEST_HEAD,
    re.compile(rf"(^|_)({SIZES})$"): LARGEST_SIZE,
}


def require_plausible(config: Mapping[str, Any]) -> None:
    """Raise MissingEvidence that names the first size in the config that no model has."""
    for key, value in _numbers(config, ""):
        limit = next((most for pattern, most in LIMITS.items() if pattern.search(key.rpartition(".")[2])), None)
        if limit is not None and value > limit:
            raise MissingEvidence(
                f"the config's {key} of {_short(value)} is more than any model has ({limit:,} at most)"
            )


def _numbers(config: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, int]]:
    for key, value in config.items():
        if isinstance(value, Mapping):
            yield from _numbers(value, f"{prefix}{key}.")
        elif type(value) is int:
            yield f"{prefix}{key}", value


def _short(value: int) -> str:
    return f"{value:,}" if value < 10**18 else "10**18 or more"
