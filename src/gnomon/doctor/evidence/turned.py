"""Rotations read off queries and keys themselves, whatever code made them.

Every place of a row holds the same token, so that queries and keys differ along the sequence only by what positions did
to them. A lane that at each place is one and the same mixture of two lanes of place 0, whatever the token, belongs to a
pair that is rotated; the mixture tells the angle. No spelling of a rotation has to be known.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Complex128, Float64, Int

from gnomon.adapters.subject import Subject
from gnomon.doctor.evidence.attending import AttentionCall
from gnomon.doctor.evidence.base import evidence
from gnomon.doctor.evidence.repeated import repeated_calls

STILL = 2e-5  # of a lane's size: float32 keeps an unturned lane to 1e-6
EXACT = 1e-3  # of a lane's size: what two lanes of place 0 must explain of it

DIFFER = 0.02  # what rows must differ in: deep layers of some models map all tokens to one vector
ALIKE = 0.01  # what the two lanes of a pair may differ in their parts, and still be called a rotation

Lanes = Float64[np.ndarray, "rows places lanes"]
Pair = tuple[int, int]
Mixture = tuple[int, Float64[np.ndarray, " places"], Float64[np.ndarray, " places"]]


@dataclass(frozen=True)
class TurnedLanes:
    """What positions did to the queries, or to the keys, of one attention.

    `pairs`: the lanes (i, j), i < j, of each pair that turns. `turns`: (places, pairs), the complex number that a pair
    a + bi of place 0 is multiplied by. `torn`: lanes that mix in twos, but not as a rotation does. `unexplained`: lanes
    that vary along the sequence in another way. `width`: lanes of a head in all.
    """

    where: str
    side: Literal["queries", "keys"]
    width: int
    pairs: tuple[Pair, ...]
    turns: Complex128[np.ndarray, "places pairs"]
    torn: tuple[Pair, ...]
    unexplained: tuple[int, ...]

    @property
    def still(self) -> bool:
        """Whether positions did nothing to them."""
        return not (self.pairs or self.torn or self.unexplained)

    def moving(self, least: float) -> dict[Pair, Complex128[np.ndarray, " places"]]:
        """The turns of each pair that turns by `least` radians somewhere."""
        turned = np.abs(np.angle(self.turns)).max(axis=0, initial=0.0)
        return {pair: self.turns[:, i] for i, pair in enumerate(self.pairs) if turned[i] >= least}


@evidence
def turned_lanes(subject: Subject) -> tuple[TurnedLanes, ...]:
    """Queries and keys of each self-attention of a forward on repeated tokens, in the order of the run."""
    return tuple(lanes for call in repeated_calls(subject)[-1] for lanes in lanes_of(call))


def lanes_of(call: AttentionCall) -> tuple[TurnedLanes, TurnedLanes]:
    """What positions did to the queries and to the keys of one attention on repeated tokens."""
    return (
        read_lanes(call.where, "queries", call.query.cpu().numpy()),
        read_lanes(call.where, "keys", call.key.cpu().numpy()),
    )


def read_lanes(where: str, side: Literal["queries", "keys"], x: Lanes) -> TurnedLanes:
    """The pairs of lanes that turn, from rows that hold one token each."""
    moved = np.flatnonzero(np.abs(x - x[:, :1]).max(axis=(0, 1)) > STILL * np.sqrt((x**2).mean(axis=(0, 1))).max())
    told_apart = x[:, 0].std(axis=0).max(initial=0.0) > DIFFER * np.abs(x[:, 0]).max(initial=0.0)
    tried = moved if told_apart else moved[:0]
    mixtures = {int(lane): mixture for lane in tried if (mixture := _mixture(x, int(lane), moved)) is not None}
    pairs, torn, turns = list[Pair](), list[Pair](), list[Complex128[np.ndarray, " places"]]()
    for i, (j, own, other) in mixtures.items():
        if i > j or j not in mixtures or mixtures[j][0] != i:
            continue
        _, own_of_j, other_of_j = mixtures[j]
        if max(np.abs(own - own_of_j).max(), np.abs(other + other_of_j).max()) > ALIKE * np.abs(own).max():
            torn.append((i, j))
        else:
            pairs.append((i, j))
            turns.append(own - 1j * other)
    explained = {lane for pair in (*pairs, *torn) for lane in pair}
    stacked = np.stack(turns, axis=1) if turns else np.empty((x.shape[1], 0), dtype=np.complex128)
    unexplained = tuple(int(lane) for lane in moved if lane not in explained)
    return TurnedLanes(where, side, x.shape[-1], tuple(pairs), stacked, tuple(torn), unexplained)


def _mixture(x: Lanes, lane: int, moved: Int[np.ndarray, " moved"]) -> Mixture | None:
    """The partner of a lane, and how much of itself and of its partner it is at each place; None when there is none.

    Least squares over the rows for each partner at once, by the two normal equations.
    """
    partners = moved[moved != lane]
    if not len(partners):
        return None
    first, wanted = x[:, 0], x[..., lane]
    mine, others = first[:, lane], first[:, partners]
    a, b, c = mine @ mine, mine @ others, (others**2).sum(axis=0)
    determinant = np.maximum(a * c - b**2, 1e-9 * a * c) + 1e-300
    onto_mine, onto_others = mine @ wanted, others.T @ wanted  # (places), (partners, places)
    own = (c[:, None] * onto_mine - b[:, None] * onto_others) / determinant[:, None]
    other = (a * onto_others - b[:, None] * onto_mine) / determinant[:, None]
    left = (wanted**2).sum(axis=0) - own * onto_mine - other * onto_others
    best = int(left.sum(axis=1).argmin())
    off = wanted - mine[:, None] * own[best] - others[:, best, None] * other[best]
    if np.abs(off).max() > EXACT * np.abs(wanted).max():
        return None
    return int(partners[best]), own[best], other[best]
