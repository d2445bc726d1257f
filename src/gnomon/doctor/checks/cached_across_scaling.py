"""PE409: keys cached before frequencies change keep their old angles."""

from collections.abc import Iterator

from gnomon.adapters.subject import Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.calling import Model, model
from gnomon.doctor.evidence.decoding import Way, decoding
from gnomon.doctor.evidence.noise import difference
from gnomon.doctor.evidence.switching import Switch, switch
from gnomon.report.document import Finding, Measured


@check("PE409", "cached-across-scaling", severity="error", needs=(model, decoding, switch))
def cached_across_scaling(subject: Subject) -> Iterator[Finding | Measured]:
    """When decoding crosses a length at which rotary frequencies change, cached keys keep the old frequencies.

    Why: dynamic scaling enlarges its base with the length, and LongRoPE takes other factors beyond the original length.
    Keys that were rotated before then meet queries that are rotated otherwise, and text falls apart in the middle of a
    reply, though the same text in one pass is fine. A warning for models of transformers: it is how their bare cached
    forward is known to work, and `generate` recomputes LongRoPE's cache.

    Fix: choose one set of frequencies for the whole request by its final length, or turn each query and the keys it
    meets by the query's own length (gnomon.encodings.Rotary does), or fill the cache anew where the set changes. Values
    of deeper layers depend on the old angles too, so turning the cached keys anew is not enough.

    Sources: transformers issues 25104 (dynamic scaling) and 33129 (LongRoPE), vllm-project/vllm#27414 (random tokens
    after 4k).
    """
    probe, found = model(subject), switch(subject)
    yield Measured(
        f"effect on earlier outputs of a text that passes length {found.length}",
        found.moved,
        found.limit,
        "0 in a causal model whose frequencies are fixed",
    )
    if found.moved <= found.limit:
        return
    effect = _decoded(probe, decoding(subject), found)
    yield Measured(f"decoded across length {found.length}, against one pass", effect, found.limit, "of the outputs")
    if effect > found.limit:
        yield Finding(
            "the cache",
            f"frequencies change beyond length {found.length}, and keys cached before keep the old ones: decoding "
            f"differs from one pass by {effect:.2g} of the output's size",
            "keep one set of frequencies for the whole request, chosen by its final length, or fill the cache anew "
            "when the set changes",
            {"effect": effect, "length": found.length},
            severity="warning" if type(probe.module).__module__.startswith("transformers.") else "error",
        )


def _decoded(probe: Model, way: Way, found: Switch) -> float:
    """How far the tokens beyond the length differ when the ones before it came through the cache."""
    late = found.content.shape[1] - found.early
    chunks = [found.early, *([1] * late if found.ids is not None else [late])]
    full = probe(found.content, positions=found.ids)[:, found.early :]
    return difference(full, way.fed(probe, found.content, chunks, positions=found.ids)[:, found.early :])
