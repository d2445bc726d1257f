"""PE411: a model's own `generate` chooses other tokens than one pass after another would."""

from collections.abc import Iterator

from gnomon.adapters.subject import Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.calling import model
from gnomon.doctor.evidence.decoded import spelled
from gnomon.doctor.evidence.generating import NEW, PROMPT, Generation, generation
from gnomon.doctor.evidence.trace import require_attention
from gnomon.report.document import Finding, Measured


@check("PE411", "generate-equals-passes", severity="error", needs=(model, generation))
def generate_equals_passes(subject: Subject) -> Iterator[Finding | Measured]:
    """Greedy `generate` gives other tokens than the most likely token of one pass after another.

    Why: a forward may be right and its loop wrong: an offset that is advanced twice, a past length that counts the
    token of this call, a state that the last generation left. Text stays fluent, only a little worse, and no test of
    the forward sees it.

    Fix: token number n has position n; derive it from the length of the cache before the call, not from a counter that
    the loop advances.

    Sources: skyzh/tiny-llm#46 (6, 12, 13 for 6, 7, 8), microsoft/onnxruntime-genai#2354 (10, 11 for 9, 10),
    transformers issue 30042 (assisted generation).
    """
    require_attention(subject)
    probe, found = model(subject), generation(subject)
    wrong = found.generated != found.expected
    same = int((~wrong).sum())
    yield Measured("tokens that agree", same, wrong.numel(), "all that one pass after another chooses clearly")
    first = _first_clear(found, probe.tolerance)
    if first is None:
        return
    yield Finding(
        "generate",
        f"new token {first + 1} of {NEW} is not the most likely one of a pass over all tokens before it{_used(found)}",
        "give token n position n: the length of the cache before the call, plus its place in the call",
        {"agree": same, "of": wrong.numel()},
    )


def _first_clear(found: Generation, tolerance: float) -> int | None:
    """The first place at which a row goes its own way, although the right token leads by more than rounding."""
    for row in range(found.expected.shape[0]):
        places = (found.generated[row] != found.expected[row]).nonzero()
        if len(places) and float(found.margins[row, places[0]]) > tolerance:
            return int(places[0])
    return None


def _used(found: Generation) -> str:
    """The first positions of the calls, beside the right ones, where they were seen and are wrong."""
    steps = [call for call in found.calls if len(call) == 1][: NEW - 1]
    right = [(PROMPT + i,) for i in range(len(steps))]
    if not steps or steps == right:
        return ""
    used, wanted = (spelled([step[0] for step in some]) for some in (steps, right))
    return f"; after a prompt of {PROMPT} its calls use {used}, not {wanted}"
