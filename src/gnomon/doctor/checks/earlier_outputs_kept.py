"""PE325: one more token changes what came before, in a model that looks only backwards."""

from collections.abc import Iterator
from itertools import pairwise

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.base import attempt, claims
from gnomon.doctor.evidence.calling import Model, model, stated_limit
from gnomon.doctor.evidence.expected import angles_follow_positions
from gnomon.doctor.evidence.noise import difference
from gnomon.doctor.evidence.order import causality
from gnomon.doctor.thresholds import OUTPUT
from gnomon.report.document import Finding, Measured

POWERS = (8, 16, 32, 64)
LONGEST = 130  # tokens in one forward


@check("PE325", "earlier-outputs-kept", severity="error", needs=(model, causality))
def earlier_outputs_kept(subject: Subject) -> Iterator[Finding | Measured]:
    """Adding one token to the input changes the outputs of the tokens before it, at some length.

    Why: in a causal model what was computed for a token stays true when the text goes on. It does not where a table is
    rebuilt, or rebuilt in another precision, once the input reaches a limit; where positions are divided by the length;
    or where a scaling rule changes all frequencies at a switch. Training on whole texts and decoding token by token
    then see different models. Lengths around the stated limit and around powers of two are compared. Rules that are
    meant to depend on the length (dynamic NTK, LongRoPE) are left out when the config states them.

    Fix: build the table once, in float32, for the stated length; let a position's angle depend on its id only.

    Sources: huggingface/transformers#31228 (a cache rebuilt exactly at the limit).
    """
    probe = model(subject)
    if not causality(subject).causal:
        raise MissingEvidence("the model looks both ways: a further token may change everything")
    stated = stated_limit(subject)
    lengths = _lengths(probe, stated)
    if not angles_follow_positions(subject, lengths[-1]):
        raise MissingEvidence("the frequencies are stated to depend on the length of the input")
    content = probe.draw(1, lengths[-1], seed=91)
    worst, jumps = 0.0, []
    before = probe(content[:, : lengths[0]])
    for shorter, longer in pairwise(lengths):
        after = probe(content[:, :longer])
        moved = difference(before, after[:, :shorter])
        worst, before = max(worst, moved), after
        if moved > probe.tolerance:
            jumps.append((shorter, longer, moved))
    yield Measured("effect of further tokens on earlier outputs", worst, probe.tolerance, OUTPUT.why)
    if jumps:
        yield _finding(subject, stated, jumps)


def _finding(subject: Subject, stated: int | None, jumps: list[tuple[int, int, float]]) -> Finding:
    shorter, longer, moved = jumps[0]
    everywhere = "" if len(jumps) == 1 else f" (at {len(jumps)} of the lengths that were tried)"
    at_limit = stated is not None and stated in (shorter, longer) and len(jumps) == 1
    return Finding(
        "the forward",
        f"outputs of the first {shorter} tokens change by {moved:.2g} of their size when the input grows to {longer}"
        + everywhere,
        "a position's vector or angles must depend on its id only: "
        + (
            "do not rebuild the table at the limit, and never in a lower precision" if at_limit else "not on the length"
        ),
        {"length": longer, "difference": moved},
        severity=None if attempt(claims, subject) and (at_limit or len(jumps) > 1) else "warning",
    )


def _lengths(probe: Model, stated: int | None) -> list[int]:
    """Lengths that run, around powers of two and around the stated limit."""
    around = [*POWERS, *([stated] if stated is not None and stated < LONGEST else [])]
    wanted = sorted({n + step for n in around for step in (-1, 0, 1)})
    found = [n for n in wanted if n <= probe.length(n) or probe.runs(n)]
    if len(found) < 2:
        raise MissingEvidence(f"the model takes {probe.limit} tokens, too few for inputs of two lengths")
    return found
