"""How much of a rotary head's logits follows the distance, and how much the two tokens.

Take token pairs (i, j) of one text, and put each pair at every distance t of a grid. With the queries and keys before
rotation as complex numbers for each pair of lanes p, and frequencies w_p, the rotated part of the logit is

    s(ij, t) = Re sum_p  q_i,p  conj(k_j,p)  exp(i w_p t)

Of its variance V over pairs and distances (an analysis of variance with two factors, or first-order Sobol indices):

    positional sensitivity = Var_t [ mean_ij s ] / V     what distance alone explains, whatever the tokens
    semantic stability     = Var_ij [ mean_t s ] / V     what the tokens alone explain, wherever they stand

Both lie in [0, 1] and their sum does not exceed 1; the rest is the interaction: tokens that matter at some distances
only. A head that looks at the token before has the first near 1, a head that looks a word up has the second near 1, and
frequencies near zero leave nothing to the first. These two definitions are this module's own; the indices are Sobol's
(2001, Mathematics and Computers in Simulation 55, section 3).
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from gnomon.doctor.evidence.record import Trace
from gnomon.doctor.evidence.rotations import Rotation
from gnomon.doctor.evidence.watcher import Watcher

TOKENS, DISTANCES = 24, 32


@dataclass(frozen=True)
class Heads:
    """One value for each head of one layer."""

    where: str
    positional_sensitivity: tuple[float, ...]
    semantic_stability: tuple[float, ...]


class RotationWatcher(Watcher):
    """Keeps, of the first row, the vectors (H, S, P) that each rotation turned, beside its angles."""

    def __init__(self, trace: Trace, path: list[str]) -> None:
        super().__init__(trace, path, {})
        self.rotated: list[tuple[Rotation, Tensor]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        before = len(self.result.rotations)
        out = super().__torch_dispatch__(func, types, args, kwargs)
        if len(self.result.rotations) > before and isinstance(out, Tensor):
            vectors = self._vectors(self.result.rotations[-1], out, args)
            if vectors is not None:
                self.rotated.append((self.result.rotations[-1], vectors))
        return out

    def _vectors(self, rotation: Rotation, out: Tensor, args: Any) -> Tensor | None:
        """Before rotation: read off the product a cos - b sin when lanes are turned in halves, else turned back."""
        if out.is_complex() or 2 * out.shape[-1] != rotation.rotary_dim:
            return _turned_back(rotation, out)
        parts = [self.products.get(id(arg)) for arg in args[:2]]
        a, b = (None if part is None else max(part[:2], key=Tensor.numel) for part in parts)
        if a is None or b is None:
            return None
        real, imaginary = _heads_first(a[0], rotation), _heads_first(b[0], rotation)
        if real is None or imaginary is None:
            return None
        return torch.complex(real.float().contiguous(), rotation.direction * imaginary.float().contiguous())


def heads(rotated: list[tuple[Rotation, Tensor]]) -> tuple[Heads, ...]:
    """The two shares for each layer whose queries and keys were rotated one after the other."""
    by_place: dict[str, list[tuple[Rotation, Tensor]]] = {}
    for rotation, out in rotated:
        by_place.setdefault(rotation.where, []).append((rotation, out))
    found = []
    for where, pair in by_place.items():
        queries, keys = pair[0][1], pair[-1][1]
        if len(pair) < 2 or queries.shape[0] % keys.shape[0]:
            continue
        keys = keys.repeat_interleave(queries.shape[0] // keys.shape[0], dim=0)
        frequencies = frequencies_of(pair[0][0])
        if frequencies is not None and queries.shape[-1] == keys.shape[-1] == len(frequencies):
            shares = shares_of_variance(queries, keys, frequencies.to(queries.device))
            found.append(Heads(where, *(tuple(share.tolist()) for share in shares)))
    return tuple(found)


def shares_of_variance(queries: Tensor, keys: Tensor, frequencies: Tensor) -> tuple[Tensor, Tensor]:
    """(H, n, P) complex queries and keys, (P,) radians -> positional sensitivity (H,), semantic stability (H,)."""
    length = queries.shape[1]
    distances = torch.linspace(0, length - 1, min(DISTANCES, length), device=queries.device).round()
    turns = torch.polar(torch.ones(()).to(frequencies), frequencies).pow(distances[:, None].to(frequencies))
    picked = torch.linspace(0, length - 1, min(TOKENS, length), device=queries.device).round().long()
    products = queries[:, picked, None] * keys[:, None, picked].conj()
    scores = torch.einsum("hijp,tp->hijt", products, turns.to(products)).real.flatten(1, 2).double()
    total = scores.flatten(1).var(dim=1, correction=0).clamp(min=1e-300)
    positional = scores.mean(dim=1).var(dim=1, correction=0) / total
    semantic = scores.mean(dim=2).var(dim=1, correction=0) / total
    return positional, semantic


def frequencies_of(rotation: Rotation) -> Tensor | None:
    """Radians a position, where the angles of the first row grow evenly along the sequence; else None."""
    angles = rotation.angles()[0]
    if rotation.axis != "sequence" or len(angles) < 3:
        return None
    steps = torch.remainder(angles[1:] - angles[:-1] + torch.pi, 2 * torch.pi) - torch.pi
    middle = steps.median(dim=0).values
    even = torch.remainder(steps - middle + torch.pi, 2 * torch.pi) - torch.pi
    return middle if float(even.abs().max()) < 0.01 else None


def _heads_first(row: Tensor, rotation: Rotation) -> Tensor | None:
    """(S, H, D) or (H, S, D) as the latter; None for other shapes."""
    length = rotation.cos.shape[1]
    if row.ndim != 3 or length not in row.shape[:2]:
        return None
    return row if row.shape[1] == length else row.transpose(0, 1)


def _turned_back(rotation: Rotation, out: Tensor) -> Tensor | None:
    """The first row's vectors before rotation, from those after it."""
    row = _heads_first(out[0], rotation)
    if row is None:
        return None
    if row.is_complex():
        turned = row.to(torch.complex64)
    elif row.shape[-1] != rotation.rotary_dim:
        return None
    elif rotation.layout == "half":
        turned = torch.complex(*(part.float().contiguous() for part in row.chunk(2, dim=-1)))
    else:
        turned = torch.complex(row[..., 0::2].float().contiguous(), row[..., 1::2].float().contiguous())
    angles = rotation.angles()[0].to(turned.device)
    return turned * torch.polar(torch.full_like(angles, 1 / rotation.factor), -angles).to(turned.dtype)
