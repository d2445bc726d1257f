"""PE318: which distances share a number in a bucketed bias, against the buckets that the config says."""

from collections.abc import Iterator

import numpy as np
from torch import nn

from gnomon.adapters.claims import Claim
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.biases import BiasUse, bias_uses, uses_in
from gnomon.doctor.evidence.calling import model
from gnomon.doctor.evidence.expected import claims_of, place
from gnomon.doctor.evidence.scores import ROWS, scores_in
from gnomon.encodings.t5 import reference_bucket
from gnomon.report.document import Finding, Measured

LENGTH = 160  # beyond the usual largest distance of 128
ROUNDING = 1e-4  # of logits of size 10 in float32
SAME = 1e-4  # of the largest bias: numbers nearer than this are one number


@check("PE318", "bias-buckets", severity="error", needs=(bias_uses,))
def bias_buckets(subject: Subject) -> Iterator[Finding | Measured]:
    """Distances share their bias in other buckets than the config gives, or a layer uses the table of another.

    Why: T5's bias is one learned number for a bucket of distances: each near distance has its own, far ones share, and
    all from max_distance on are one. In a decoder every bucket is for the past; the two-way rule of the encoder halves
    them. Code with another rule, a fixed 128, a logarithm without its cap or buckets that follow the length looks up
    trained numbers for other distances. Which distances are given equal numbers shows the rule, whatever the weights.

    Fix: bucket = reference rule with num_buckets, max_distance and bidirectional of the config: two-way in the encoder,
    one-way in the decoder.

    Sources: Raffel et al. 2020, arXiv:1910.10683, section 2.1, and its published code; x-transformers#11.
    """
    claims = claims_of(subject, "t5")
    uses = bias_uses(subject)
    probe = model(subject)
    content = probe.draw(ROWS, probe.length(LENGTH))
    uses = uses_in(scores_in(probe, content, probe.tolerance)) or uses
    told = set[str]()
    for use in uses:
        claim, (wrong, first) = min(
            ((c, _misfits(use, c)) for c in _claims_for(use, claims)), key=lambda found: found[1][0]
        )
        yield Measured(f"misplaced distances in {use.where}", wrong, 0, f"of {use.values.shape[-1]} places")
        if place(use.where) in told:
            continue
        finding = _finding(use, claim, wrong, first) if wrong else _from_elsewhere(use, claim, probe.module)
        if finding is not None:
            told.add(place(use.where))
            yield finding


def _from_elsewhere(use: BiasUse, claim: Claim, module: nn.Module) -> Finding | None:
    """A layer that has numbers of its own must use them (UMT5)."""
    count, heads = int(claim.options["num_buckets"]), use.values.shape[0]
    own = [
        (name, part.weight.detach().double().cpu().numpy())
        for name, part in module.get_submodule(use.where).named_modules(prefix=use.where)
        if isinstance(part, nn.Embedding) and tuple(part.weight.shape) == (count, heads)
    ]
    if len(own) != 1:
        return None
    [(name, table)] = own
    offsets, numbers = _numbers(use)
    direction, farthest = str(claim.options["direction"]), int(claim.options["max_distance"])
    rows = table[[reference_bucket(int(offset), count, farthest, direction) for offset in offsets]].T
    off = np.ptp(numbers - rows, axis=1).max()  # apart from a constant in the row
    if off <= SAME * max(float(np.abs(table).max()), 1e-6) + ROUNDING:
        return None
    return Finding(
        use.where,
        f"what is added is not from this layer's own table {name}: they differ by up to {off:.2g}",
        "each layer that has a table looks its bias up there; do not hand the first layer's bias on",
        {"apart": float(off), "table": name},
    )


def _claims_for(use: BiasUse, claims: tuple[Claim, ...]) -> tuple[Claim, ...]:
    """Those of its stack, where the path names one."""
    stack = tuple(claim for claim in claims if claim.where.split(".")[0] in use.where.split("."))
    return stack or claims


def _misfits(use: BiasUse, claim: Claim) -> tuple[int, tuple[int, int]]:
    """How many neighbouring distances share a number where the rule parts them, or the other way; the first two."""
    count, farthest = claim.options.get("num_buckets"), claim.options.get("max_distance")
    if not isinstance(count, int) or not isinstance(farthest, int | float) or farthest <= count // 2 or count < 4:
        raise MissingEvidence(f"the config states no usable buckets: {count!r} up to {farthest!r}")
    size = max(float(np.abs(use.values[np.isfinite(use.values)]).max()), 1e-6)
    offsets, numbers = _numbers(use)
    buckets = np.array(
        [reference_bucket(int(o), count, int(farthest), str(claim.options["direction"])) for o in offsets]
    )
    shared = np.abs(np.diff(numbers, axis=1)).max(axis=0) <= SAME * size
    wrong = np.flatnonzero(shared != (np.diff(buckets) == 0))
    first = (int(offsets[wrong[0]]), int(offsets[wrong[0] + 1])) if len(wrong) else (0, 0)
    return len(wrong), first


def _numbers(use: BiasUse) -> tuple[np.ndarray, np.ndarray]:  # type: ignore[type-arg]
    """Offsets key - query and each head's bias there: back from the last query, forward from the first if it sees."""
    length = use.values.shape[-1]
    back = use.values[:, -1, ::-1]
    if use.ahead is None:
        return -np.arange(length), back - back[:, :1]
    ahead = use.values[:, 0, 1:] - use.values[:, 0, :1]
    offsets = np.concatenate((np.arange(length - 1, 0, -1), -np.arange(length)))
    return offsets, np.concatenate((ahead[:, ::-1], back - back[:, :1]), axis=1)


def _finding(use: BiasUse, claim: Claim, wrong: int, first: tuple[int, int]) -> Finding:
    count, farthest, direction = (claim.options.get(n) for n in ("num_buckets", "max_distance", "direction"))
    one, other = (reference_bucket(offset, int(count or 0), int(farthest or 0), str(direction)) for offset in first)
    should = "share one number" if one == other else f"have buckets {one} and {other}"
    return Finding(
        place(use.where),
        f"offsets {first[0]} and {first[1]} (key - query) should {should}, and do not; "
        f"{wrong} neighbours in all are not as {count} buckets up to {farthest}, {direction}, have them",
        f"bucket by the published rule with num_buckets={count}, max_distance={farthest}, "
        f"bidirectional={direction == 'both'}",
        {"misplaced": wrong, "first": list(first)},
    )
