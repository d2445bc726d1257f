"""A config of the same model with fewer layers and words: positions are the same in it, and it fits a small machine."""

from collections.abc import Mapping
from typing import Any

from gnomon.adapters.families.config_reader import LAYERS

VOCABULARY = 1024
FEWEST = 2  #: layers, so that what one layer hands to the next is still there
DEPTHS = (*LAYERS, "decoder_layers", "num_decoder_layers")
PERIODS = ("sliding_window_pattern", "no_rope_layer_interval", "full_attention_interval", "attn_layer_period")


def shortened(config: Mapping[str, Any]) -> dict[str, Any]:
    """A copy with the first layers only, at least one of each kind that is listed, and at most 1024 words.

    >>> short = shortened({"n_layer": 9, "hidden_size": 64, "layer_types": [*"aaaba", *"aaaa"], "vocab_size": 9000})
    >>> short["n_layer"], short["hidden_size"], short["layer_types"], short["vocab_size"]
    (4, 64, ['a', 'a', 'a', 'b'], 1024)
    """
    short = {key: shortened(value) if isinstance(value, Mapping) else value for key, value in config.items()}
    depth = max([FEWEST, *(_needed(config, layers) for key in DEPTHS if type(layers := config.get(key)) is int)])
    for key in DEPTHS:
        if type(layers := config.get(key)) is int:
            short[key] = min(layers, depth)
            short |= {name: value[:depth] for name, value in config.items() if _listed(value, layers)}
    if type(words := config.get("vocab_size")) is int and words > VOCABULARY:
        short["vocab_size"] = VOCABULARY
        short |= {key: _known(value) for key, value in config.items() if key.endswith("_token_id")}
    return short


def _known(token: Any) -> Any:
    """A token of the small vocabulary: itself where it is one (RoBERTa counts positions from its padding token)."""
    if isinstance(token, list):
        return [_known(one) for one in token]
    return 0 if type(token) is int and token >= VOCABULARY else token


def _needed(config: Mapping[str, Any], layers: int) -> int:
    """How many layers hold one of every kind: those that lists name layer by layer, and those of a stated period."""
    needed = [value for key in PERIODS if type(value := config.get(key)) is int]
    for value in config.values():
        if _listed(value, layers) and value != list(range(layers)):  # such a list counts layers, it names no kinds
            kinds = [str(kind) for kind in value]
            needed += [kinds.index(kind) + 1 for kind in set(kinds)]
    return max(needed, default=0)


def _listed(value: Any, layers: int) -> bool:
    """Whether this says something of each layer."""
    return isinstance(value, list) and len(value) == layers
