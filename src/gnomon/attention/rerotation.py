"""Keys that were rotated one way, rotated another way: for caches whose frequencies or positions change.

A rotation is z = f exp(i p w) for each pair, so what is missing to the new one is the quotient of both (RoPE: Su et al.
2021, arXiv:2104.09864; keys that get other positions in the cache: StreamingLLM, Xiao et al. 2023, arXiv:2309.17453).
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from gnomon.attention.slots import position_of_each
from gnomon.encodings.rotary import Rotary
from gnomon.errors import GnomonError, ShapeError
from gnomon.kernels.rotation import rotate


def rerotate_keys(
    k: Float[Tensor, "B G K D"],
    positions: Int[Tensor, "#B K"],
    old: Rotary,
    new: Rotary,
    *,
    new_positions: Int[Tensor, "#B K"] | None = None,
) -> Float[Tensor, "B G K D"]:
    """Keys that `old` rotated at `positions`, as `new` would have rotated them: (B, G, K, D) -> (B, G, K, D).

    With `new_positions` the keys also move there, as when a cache drops tokens and those behind them close up. Where
    frequencies depend on the length, bind both sides with `at_length`, to one length or to one for each row; unbound,
    a side takes the length of the last position of each row, as when it is called.

    The quotient is computed in float64 and applied in float32 (float64 for float64 keys), and rounded once to the dtype
    of k. Float32 keys then equal those rotated from scratch to rounding. Bfloat16 keys carry the rounding of the cache
    too, and one more for each time that they are turned again: keep unrotated keys where that counts.

    Raises GnomonError unless both are Rotary, ShapeError when head_dim, rotary_dim or layout differ, and
    PositionError when positions are not int64.

    >>> from gnomon.encodings import Rotary
    >>> short, long = Rotary(4), Rotary(4, frequencies={"kind": "linear", "factor": 2.0})
    >>> raw, place = torch.ones(1, 1, 3, 4), torch.tensor([[5, 6, 7]])
    >>> again = rerotate_keys(short.rotate_key(raw, place), place, short, long, new_positions=place - 5)
    >>> torch.allclose(again, long.rotate_key(raw, place - 5), atol=1e-6)
    True
    """
    _check_forms(old, new)
    if k.ndim != 4 or not k.is_floating_point():
        raise ShapeError(
            f"Keys are (batch, heads, length, width) numbers with a point, got {tuple(k.shape)} {k.dtype}."
        )
    if k.shape[-1] != old.head_dim:
        raise ShapeError(f"The keys are {k.shape[-1]} wide but the rotary encodings are for {old.head_dim}.")
    at, to = (
        position_of_each(given, k.shape[0], k.shape[2], noun="key")
        for given in (positions, positions if new_positions is None else new_positions)
    )
    cos, sin = _quotient(old, at, new, to)
    dtype = torch.promote_types(k.dtype, torch.float32)
    return rotate(k, cos.to(dtype).unsqueeze(-3), sin.to(dtype).unsqueeze(-3), layout=old.layout)


def _quotient(
    old: Rotary, positions: Int[Tensor, "B K"], new: Rotary, new_positions: Int[Tensor, "B K"]
) -> tuple[Float[Tensor, "B K pairs"], Float[Tensor, "B K pairs"]]:
    """Real and imaginary part of the new rotation over the old one, in float64, attention factors included."""
    cos, sin = old.cos_sin(positions, dtype=torch.float64)
    new_cos, new_sin = new.cos_sin(new_positions, dtype=torch.float64)
    square = cos.square() + sin.square()
    return (new_cos * cos + new_sin * sin) / square, (new_sin * cos - new_cos * sin) / square


def _check_forms(old: Rotary, new: Rotary) -> None:
    """Pairs are the same columns on both sides, or no rotation leads from one to the other."""
    for given in (old, new):
        if not isinstance(given, Rotary):
            raise GnomonError(f"Keys are turned again from one Rotary to another, got {given}.")
    for name in ("head_dim", "rotary_dim", "layout"):
        if getattr(old, name) != getattr(new, name):
            raise ShapeError(
                f"The {name} of the old rotation is {getattr(old, name)!r} and of the new one {getattr(new, name)!r}; "
                f"keys can be turned again only where both turn the same pairs."
            )
