"""PE406: the vectors of tokens give other outputs than their ids."""

from collections.abc import Iterator

import torch
from torch import Tensor

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.base import attempt
from gnomon.doctor.evidence.calling import Model, model
from gnomon.doctor.evidence.decoded import spelled
from gnomon.doctor.evidence.decoding import Way, decoding
from gnomon.doctor.evidence.embedded import Embedded, embedded
from gnomon.doctor.evidence.noise import difference
from gnomon.doctor.evidence.places import positions_said, sources, watched
from gnomon.doctor.thresholds import OUTPUT
from gnomon.report.document import Finding, Measured

CACHED, NEW = 4, 3  # tokens
FIX = "count positions from the length of the vectors and of the cache, as for ids: after 4 cached tokens 4, 5, 6"


@check("PE406", "vectors-equal-ids", severity="error", needs=(model, embedded))
def vectors_equal_ids(subject: Subject) -> Iterator[Finding | Measured]:
    """Tokens given as vectors (inputs_embeds) get other positions than the same tokens given as ids.

    Why: soft prompts, images and adapters give vectors. Where positions are built from the ids' shape, or from the
    vectors' length without the cache, they start at 0 again or are left out, and the text still reads well.

    Fix: build positions from the length of whatever was given and of the cache (gnomon.positions.after).

    Sources: transformers pull request 37403 (vectors after a cache started at 0) and issue 35463 (Qwen2-VL had no ids
    to build its planes from).
    """
    probe, way = model(subject), embedded(subject)
    length = probe.length(CACHED + NEW)
    content = probe.draw(2, length, seed=95)
    ids = probe(content)
    effect = difference(ids, way.run(probe, content))
    yield Measured("vectors against ids in one pass", effect, probe.tolerance, OUTPUT.why)
    if effect > probe.tolerance:
        said = _one_pass(probe, way, content)
        if not said:
            raise MissingEvidence("the model takes more from ids than their vectors: no positions were seen to differ")
        yield Finding("the forward", f"given vectors it uses {said}, not those of ids", FIX, {"effect": effect})
        return
    steps = attempt(decoding, subject)
    if steps is None or length < CACHED + NEW:
        return
    output, used = _after_a_cache(probe, way, steps, content)
    effect = difference(ids[:, CACHED:], output)
    yield Measured("vectors after cached ids against one pass", effect, probe.tolerance, OUTPUT.why)
    if effect > probe.tolerance:
        yield Finding(
            "the cache",
            f"vectors after {CACHED} cached tokens differ from one pass by {effect:.2g} of the output's size{used}",
            FIX,
            {"effect": effect},
        )


def _one_pass(probe: Model, way: Embedded, content: Tensor) -> str:
    found = sources(watched(probe.module, lambda: probe(content[:1])), content.shape[1])
    said = positions_said(watched(probe.module, lambda: way.run(probe, content[:1])), found, content.shape[1])
    wrong = [one for one in said if one != list(range(content.shape[1]))]
    return spelled(wrong[0]) if wrong else ""


def _after_a_cache(probe: Model, way: Embedded, steps: Way, content: Tensor) -> tuple[Tensor, str]:
    """Ids through the cache, then vectors: their outputs, and the positions they got where those are wrong."""
    found = sources(watched(probe.module, lambda: probe(content[:1])), content.shape[1])
    session = steps.open(probe)
    session.feed(content[:, :CACHED])
    new = content[:, CACHED:]
    outputs: list[Tensor] = []
    with torch.no_grad():
        seen = watched(
            session.probe.module, lambda: outputs.append(session.feed(new, **way.arguments(session.probe, new)))
        )
    right = list(range(CACHED, content.shape[1]))
    wrong = [said for said in positions_said(seen, found, NEW) if said != right]
    return outputs[0], f"; they get {spelled(wrong[0])}, not {spelled(right)}" if wrong else ""
