"""Whether moved rows give the same scores: random inputs through old and new tensors, each turned in its own pairs."""

import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Float64
from torch import Tensor

from gnomon.adapters.tensors import TensorSource
from gnomon.errors import GnomonError
from gnomon.kernels.rotation import Layout, angles, rotate
from gnomon.layouts.lanes import Lanes
from gnomon.layouts.places import SIDES, Attention
from gnomon.layouts.roles import Name

LIMIT = 1e-5  #: of the largest score; what float64 leaves is 1e-15
BATCH, LENGTH, FURTHEST = 2, 5, 4096
SLOWEST = 1e-3  #: radians a position; frequencies from there to 1 tell every pair from every other
CHUNK = 2**18  #: numbers that are float64 at a time


@final
@dataclass(frozen=True)
class State:
    """Tensors with their rows in one layout; `moved` when they are the ones that were written."""

    source: TensorSource
    layout: Layout
    moved: bool


def largest_error(
    old: State, new: State, attentions: Iterable[Attention], progress: Callable[[str], None] = lambda _: None
) -> float:
    """The largest difference of scores and of lanes that are not turned, relative to the largest of each attention.

    Two sequences of random vectors, random positions up to 4,095, every query against every key of its group, in
    float64. A projection that is not among the tensors (in an adapter) is random, with its rows in either order.
    Raises GnomonError where a score is no number.
    """
    worst = 0.0
    for attention in attentions:
        progress(attention.path.rstrip("."))
        before, after = (_scores(state, attention) for state in (old, new))
        for one, other in zip(before, after, strict=True):
            error = float((one - other).abs().max()) / max(float(one.abs().max()), 1e-30) if one.numel() else 0.0
            if not (one.isfinite().all() and other.isfinite().all()):
                raise GnomonError(
                    f"The weights of {attention.path.rstrip('.')} give scores that are no numbers, as NaN does, so "
                    "nothing can be verified and nothing is kept."
                )
            if not error <= LIMIT:
                raise GnomonError(
                    f"The scores of {attention.path.rstrip('.')} are not the same after the rows were moved: they "
                    f"differ by {error:.1e} of the largest one (limit {LIMIT:.0e}), so nothing is kept."
                )
            worst = max(worst, error)
    return worst


def _scores(state: State, attention: Attention) -> tuple[Tensor, ...]:
    """Scores (B, H, Q, K), and what of either projection is not turned: other lanes of the heads, and values."""
    (q, q_rest), (k, k_rest) = (_turned(state, attention, side) for side in SIDES)
    keys = k.repeat_interleave(q.shape[1] // k.shape[1], dim=1)
    return q @ keys.mT, q_rest, k_rest


def _turned(
    state: State, attention: Attention, side: str
) -> tuple[Float64[Tensor, "B H S D"], Float64[Tensor, " rest"]]:
    """The turned lanes of each head after the rotation, and all that is not turned."""
    lanes, out = _projected(state, attention, side)
    outside = torch.ones(lanes.rows, dtype=torch.bool)
    for start in (*lanes.query, *lanes.key):
        outside[start : start + lanes.width] = False
    heads = torch.stack([out[..., s : s + lanes.width] for s in (lanes.query if side == "query" else lanes.key)], dim=1)
    heads = _normed(state, attention, side, heads)
    begin, end = lanes.begin, lanes.begin + lanes.rotated
    generator = _generator(attention.path + side + "positions")
    positions = torch.randint(1, FURTHEST, (BATCH, 1, LENGTH), generator=generator)
    frequencies = torch.logspace(0, torch.log10(torch.tensor(SLOWEST)).item(), lanes.rotated // 2, dtype=torch.float64)
    angle = angles(positions, frequencies, dtype=torch.float64)
    turned = rotate(heads[..., begin:end], angle.cos(), angle.sin(), layout=state.layout)
    rest = (heads[..., :begin], heads[..., end:], out[..., outside])
    return turned, torch.cat([part.flatten() for part in rest])


def _projected(state: State, attention: Attention, side: str) -> tuple[Lanes, Float64[Tensor, "B S rows"]]:
    """The output of the projection of one side, with bias, low-rank update and magnitude where there are such."""
    parts = {name.part: name for name in attention.of(*SIDES[side])}
    rows_of = [attention.lanes[name.whole] for name in parts.values() if name.moves]
    if not rows_of:  # an adapter of the other side alone: any vectors will do, of one head
        return _stand_in(state, attention, side)
    lanes, some = rows_of[0], next(iter(parts.values()))
    start = attention.path + some.module
    weights = [name for part, name in parts.items() if part.endswith("weight") and not part.startswith("lora")]
    out = _base(state, lanes, start) if not weights else _product(state.source.load(weights[0].whole), start)
    updates = [name for part, name in parts.items() if part.startswith("lora_B") and part.endswith("weight")]
    for up in updates:
        down = up.whole.replace("lora_B", "lora_A")
        low = _product(state.source.load(down), start)
        out = out + low @ state.source.load(up.whole).double().T
    for name in (name for part, name in parts.items() if part.endswith("bias")):
        out = out + state.source.load(name.whole).double()
    for name in (name for part, name in parts.items() if part.startswith("lora_magnitude")):
        out = out * state.source.load(name.whole).double().flatten()
    return lanes, out


def _product(weight: Tensor, seed: str) -> Float64[Tensor, "B S rows"]:
    """Random vectors through a weight (rows, columns), a few rows at a time."""
    x = torch.randn(BATCH, LENGTH, weight.shape[1], generator=_generator(seed), dtype=torch.float64)
    rows = max(1, CHUNK // weight.shape[1])
    return torch.cat([x @ part.double().T for part in weight.split(rows)], dim=-1)


def _base(state: State, lanes: Lanes, seed: str) -> Float64[Tensor, "B S rows"]:
    out = torch.randn(BATCH, LENGTH, lanes.rows, generator=_generator(seed + "base"), dtype=torch.float64)
    return out[..., lanes.order(state.layout)] if state.moved else out


def _stand_in(state: State, attention: Attention, side: str) -> tuple[Lanes, Float64[Tensor, "B S rows"]]:
    other = next(iter(attention.lanes.values()))
    lanes = Lanes(other.width, (0,), (0,), other.width, other.begin, other.rotated)
    return lanes, _base(state, lanes, attention.path + side)


def _normed(
    state: State, attention: Attention, side: str, heads: Float64[Tensor, "B H S D"]
) -> Float64[Tensor, "B H S D"]:
    """Root mean square norm over one head or over all, times one more than its weights, as in Gemma.

    Its weights fit the lanes or they do not, whether or not the model itself adds one.
    """
    names = [name for name in attention.of(f"{side} norm") if name.moves]
    if not names:
        return heads
    parts: Mapping[str, list[Name]] = {
        kind: sorted((n for n in names if n.part.endswith(kind)), key=_number) for kind in ("weight", "bias")
    }
    every = (1, 3) if sum(attention.lanes[n.whole].rows for n in parts["weight"]) > heads.shape[-1] else (3,)
    scaled = heads / heads.square().mean(every, keepdim=True).sqrt()
    for kind, members in parts.items():
        if members:
            values = torch.cat([state.source.load(n.whole).double().flatten() for n in members])
            by_head = values.reshape(-1, 1, heads.shape[-1])  # (H or 1, 1, D)
            scaled = scaled * (1 + by_head) if kind == "weight" else scaled + by_head
    return scaled


def _number(name: Name) -> int:
    digits = [int(step) for step in name.part.split(".") if step.isdigit()]
    return digits[0] if digits else 0


def _generator(seed: str) -> torch.Generator:
    return torch.Generator().manual_seed(zlib.crc32(seed.encode()))
