"""Fields of `ModelArgs` read from config.json: one that is needed and absent ends with a TypeError."""

from collections.abc import Mapping
from typing import Any

from gnomon.resolving.readers.mlx_lm.models import Model
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.stopping import StackStops


def needed(value: Any, name: str) -> Any:
    """The value; raises StackStops for a field without a default that the file lacks."""
    if value is None:
        raise StackStops(f"TypeError: ModelArgs.__init__() missing a required argument: {name!r}")
    return value


def head_of(keys: Keys, model: Model) -> int:
    """The width that the softmax scale is made of."""
    if model.head == "latent":
        return int(
            keys.whole("head width", "qk_nope_head_dim", default=128)
            + keys.whole("rotary width", "qk_rope_head_dim", default=64)
        )
    head = None if model.head == "division" else keys.whole("head width", "head_dim", default=model.width)
    if model.head == "head_dim":
        needed(head, "head_dim")
    if not head:
        head = _division(keys)
    if head <= 0:
        raise StackStops(f"a head of {head} columns cannot be built")
    return int(head)


def rotary_of(keys: Keys, model: Model, head: int) -> int:
    """How many columns turn."""
    if model.head == "latent":
        return int(keys.whole("rotary width", "qk_rope_head_dim", default=64))
    if model.share is None:
        return head
    name, default = model.share
    share = needed(keys.number("share of a head", name, default=default), name)
    dim = int(head * share)
    if not 0 < dim <= head:
        raise StackStops(f"{name} makes a rotated width of {dim} of {head} columns")
    return dim


def base_of(keys: Keys, model: Model) -> float:
    """The base of the layers that see everything."""
    if model.block == "rope_parameters":
        block = keys.part(model.block)
        return float(needed(block.number("base", "rope_theta"), "rope_theta"))
    return float(needed(keys.number("base", model.base_key, default=model.base), model.base_key))


def longest_of(keys: Keys, model: Model) -> float | None:
    """max_position_embeddings, or the default of the class."""
    found = keys.number("longest length", "max_position_embeddings", default=model.longest)
    return None if found is None else float(found)


def block_of(keys: Keys, name: str) -> Keys | None:
    """The rotary block; None where the file has none. Raises StackStops for one that is no mapping."""
    held = keys.values.get(name)
    if held is None:
        return None
    if not isinstance(held, Mapping):
        raise StackStops(f"AttributeError: {name} is {held!r}, which has no keys")
    return keys.part(name)


def _division(keys: Keys) -> int:
    width, heads = keys.whole("width", "hidden_size"), keys.whole("heads", "num_attention_heads")
    needed(width, "hidden_size")
    if needed(heads, "num_attention_heads") <= 0:
        raise StackStops("ZeroDivisionError: num_attention_heads is not positive")
    return int(width // heads)
