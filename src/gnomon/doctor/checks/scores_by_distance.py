"""PE311: scores of a relative encoding that depend on the place, or on how long the input is."""

from collections.abc import Iterator

from gnomon.adapters.claims import Claim
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.base import claims
from gnomon.doctor.evidence.by_distance import ByDistance, scores_by_distance
from gnomon.doctor.evidence.calling import model
from gnomon.doctor.evidence.expected import NO_POSITIONS, angles_follow_positions, place
from gnomon.encodings.base import registry
from gnomon.report.document import Finding, Measured, Severity

WHY = "of the largest logit; float32 gives 1e-6, a shift that is wrong by one place 0.1 and more"


@check("PE311", "scores-by-distance", severity="error", needs=(model, scores_by_distance))
def scores_depend_on_distance(subject: Subject) -> Iterator[Finding | Measured]:
    """Between equal tokens, the score of a relative encoding is not the same wherever their distance is the same.

    Why: a relative encoding is one number, or one rotation, for each distance. With the same token at every place, the
    logits must then be constant along each diagonal, apart from a constant in each row, which the softmax ignores. A
    relative shift that cuts the wrong row, a bias that is built from places of a buffer, queries that are rotated and
    keys that are not, a bucket that is computed from the length at hand: each breaks it, and no shape tells. Judged
    only where nothing but position varies. Without a claim it is a warning: some designs add positions of queries and
    keys to the scores on purpose.

    Fix: compute the number from key position - query position of each pair, with fixed sizes from the config; after
    the padding trick of the relative shift, drop the first row, and mask what lies ahead, or use both signs.

    Sources: Dai et al. 2019, arXiv:1901.02860, appendix B; Shaw et al. 2018, arXiv:1803.02155; Raffel et al. 2020,
    arXiv:1910.10683, section 2.1; labmlai/annotated_deep_learning_paper_implementations#185, espnet/espnet#2816.
    """
    stated = tuple(claim for claim in claims(subject) if claim.kind not in NO_POSITIONS)
    if not all(map(_is_relative, stated)):
        raise MissingEvidence("the model claims an encoding whose scores need not depend on the distance alone")
    severity: Severity = "error" if stated else "warning"
    limit = model(subject).tolerance
    follows = angles_follow_positions(subject, max(use.lengths[1] for use in scores_by_distance(subject)))
    told = set[str]()
    for use in scores_by_distance(subject):
        size = max(use.size, 1e-6)
        yield Measured(f"places in {use.where}", use.apart / size, limit, WHY)
        yield Measured(f"lengths in {use.where}", use.length / size, limit, WHY)
        if (where := place(use.where)) in told:
            continue
        if use.apart > limit * size:
            told.add(where)
            yield _by_place(use, severity)
        elif use.length > limit * size and follows:
            told.add(where)
            yield _by_length(use, severity)


def _is_relative(claim: Claim) -> bool:
    return claim.kind in registry and registry.get(claim.kind).relative


def _by_place(use: ByDistance, severity: Severity) -> Finding:
    distance, one, other = use.worst
    return Finding(
        place(use.where),
        f"equal tokens at one distance get other scores at other places: {abs(distance)} "
        f"{'ahead' if distance > 0 else 'back'}, queries {one} and {other} differ by {use.apart:.2g}",
        "compute what is added, or the angle, from key position - query position of each pair; where logits are "
        "shifted, pad, view, and drop the first row",
        {"apart": use.apart, "distance": distance, "queries": [one, other]},
        severity=severity,
    )


def _by_length(use: ByDistance, severity: Severity) -> Finding:
    short, long = use.lengths
    return Finding(
        place(use.where),
        f"the score of one distance differs by {use.length:.2g} between an input of {short} tokens and one of {long}",
        "compute buckets and clipping from a fixed largest distance of the config, not from the length at hand",
        {"difference": use.length, "lengths": [short, long]},
        severity=severity,
    )
