"""PE312: what the rotation did to queries and keys themselves, whatever code made it."""

from collections.abc import Iterator

import numpy as np

from gnomon.adapters.claims import Claim
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.expected import claims_or_none, place, rotary_dim
from gnomon.doctor.evidence.turned import TurnedLanes, turned_lanes
from gnomon.doctor.thresholds import Threshold
from gnomon.report.document import Finding, Measured

TURN = Threshold(0.02, "complex numbers of size 1; float32 gives 1e-4, tables in bfloat16 4e-3")
SLOW = 1e-3  #: radians in all: a pair that turns less is not told apart from a still one


@check("PE312", "rotated-pairs", severity="error", needs=(turned_lanes,))
def rotated_pairs(subject: Subject) -> Iterator[Finding | Measured]:
    """Lanes of queries and keys are paired wrongly, turn unlike each other, or do not keep their length.

    Why: a score depends on the distance alone only when each pair of lanes is turned as a whole, and when queries and
    keys are turned by the same angles. Tables that are repeated the wrong way give the two lanes of a pair two angles;
    a partner that lies half a head away instead of half the rotated width fits no checkpoint; a rotation of queries
    alone makes scores depend on the place. The measurement runs repeated tokens, so that whatever varies along the
    sequence is position, and reads pairs and angles off the queries and keys that meet, however they were turned: in
    place, by 2 x 2 matrices, by complex numbers or in a fused kernel.

    Fix: one pair, one angle: pairs (i, i + r/2) with tables cat((f, f)), or pairs (2i, 2i + 1) with tables
    repeat_interleave(2), r the rotated width; the same call for queries and keys.

    Sources: Su et al. 2021, arXiv:2104.09864, equations 15 and 34; NVIDIA/Megatron-LM#3900,
    facebookresearch/vjepa2#15, nanotron#427.
    """
    found = turned_lanes(subject)
    rotating = [lanes for lanes in found if lanes.pairs or lanes.torn]
    if not rotating:
        raise MissingEvidence("no queries or keys are rotated in the forward")
    told = set[tuple[str, str]]()
    claims = claims_or_none(subject, "rotary")
    for queries, keys in zip(found[::2], found[1::2], strict=True):
        for item in (*_torn(queries), *_torn(keys), *_together(queries, keys), *_partners(queries, claims)):
            if isinstance(item, Measured):
                yield item
            elif (key := (item.where, item.message[:20])) not in told:
                told.add(key)
                yield item


def _torn(lanes: TurnedLanes) -> Iterator[Finding]:
    """Lanes that mix in twos without being a rotation of the two."""
    if not lanes.torn or lanes.unexplained:
        return
    i, j = lanes.torn[0]
    yield Finding(
        place(lanes.where),
        f"lanes {i} and {j} of the {lanes.side} are mixed, but the two do not turn by one angle: lengths are not kept "
        "and scores do not depend on the distance alone",
        "give both lanes of a pair the same angle: repeat_interleave(2) for neighbours, cat((f, f)) for halves",
        {"pairs": len(lanes.torn), "first": [i, j]},
    )


def _together(queries: TurnedLanes, keys: TurnedLanes) -> Iterator[Finding | Measured]:
    """Queries and keys of one attention must be turned alike, and a pair of both must keep its length."""
    where = place(queries.where)
    for one, other in ((queries, keys), (keys, queries)):
        if one.pairs and not one.unexplained and other.still:
            yield Finding(
                where,
                f"{one.side} are rotated and {other.side} are not: scores depend on the place, not on the distance",
                f"rotate {other.side} by the same angles, before they are cached or repeated for their groups",
                {"rotated": one.side},
            )
            return
    if queries.unexplained or keys.unexplained or not (queries.pairs and keys.pairs):
        return
    a, b = queries.moving(SLOW), keys.moving(SLOW)
    if a.keys() != b.keys():
        yield Finding(
            where,
            f"queries turn lanes {_some(a.keys() - b.keys())} together, keys {_some(b.keys() - a.keys())}",
            "pair the lanes of queries and keys alike",
            {"pairs of queries": len(a), "pairs of keys": len(b)},
        )
        return
    if not a:
        return
    # q turned by one angle and k by another: the product at equal places must stay what it was
    worst, first = max((float(np.abs(a[pair] * b[pair].conj() - 1).max()), pair) for pair in a)
    yield Measured(f"queries against keys in {where}", worst, TURN.value, TURN.why)
    if worst > TURN.value:
        sign = np.allclose(a[first], b[first].conj(), atol=TURN.value)
        same = np.abs(np.angle(a[first] * b[first].conj())).max() < TURN.value
        yield Finding(
            where,
            f"queries and keys are not turned alike: at one place their lanes {first[0]} and {first[1]} are "
            + (
                "turned in opposite directions"
                if sign
                else "stretched"
                if same
                else f"{worst:.2g} apart (0: the same angle)"
            ),
            "use one rotation, with the same positions, tables and sign, for queries and keys",
            {"apart": worst, "lanes": list(first)},
        )


def _partners(lanes: TurnedLanes, claims: tuple[Claim, ...]) -> Iterator[Finding]:
    """The pairs against those of the claimed width: halves or neighbours, from the first rotated lane on."""
    widths = {rotary_dim(claim) for claim in claims}
    if len(widths) != 1 or not all(map(_fills_its_width, claims)) or not lanes.pairs or lanes.unexplained:
        return
    [width] = widths
    start = min(i for i, _ in lanes.pairs)
    start = start if start + width == lanes.width else 0  # the rotated part may be kept last, as DeepSeek keeps it
    halves = {(start + i, start + i + width // 2) for i in range(width // 2)}
    neighbours = {(start + i, start + i + 1) for i in range(0, width, 2)}
    pairs = set(lanes.moving(SLOW))
    if pairs and not pairs <= halves and not pairs <= neighbours:
        i, j = min(pairs - halves)
        yield Finding(
            place(lanes.where),
            f"lanes {i} and {j} are turned together; with {width} rotated lanes {i} belongs to {_partner(i, halves)} "
            f"(halves) or {_partner(i, neighbours)} (neighbours)",
            f"cut the {width} rotated lanes off first and split them in the middle, not the whole head",
            {"pair": [i, j], "rotated width": width},
        )


def _fills_its_width(claim: Claim) -> bool:
    """Whether all lanes of the claimed width turn: the proportional rule leaves the last pairs of the head still."""
    return dict(claim.options.get("frequencies", {})).get("kind") != "proportional"


def _partner(lane: int, pairs: set[tuple[int, int]]) -> str:
    return next((str(i + j - lane) for i, j in pairs if lane in (i, j)), "none")


def _some(pairs: set[tuple[int, int]]) -> str:
    return ", ".join(f"{i} and {j}" for i, j in sorted(pairs)[:2]) or "in other twos"
