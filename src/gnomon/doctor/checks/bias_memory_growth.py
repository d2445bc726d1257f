"""PE612: memory of biases that grows with layers, with the batch, or with the square of the length."""

from collections.abc import Iterator

from gnomon.adapters.families.config_reader import LENGTH
from gnomon.adapters.subject import Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.base import attempt
from gnomon.doctor.evidence.deployment.bias_memory import BiasMemory, Whole, bias_memory
from gnomon.doctor.evidence.expected import place
from gnomon.doctor.thresholds import Threshold
from gnomon.report.document import Finding, Measured

GIBIBYTE = Threshold(float(2**30), "a bias of a GiB takes as much as the layers it serves")


@check("PE612", "bias-memory-growth", severity="warning", needs=(bias_memory,))
def bias_memory_growth(subject: Subject) -> Iterator[Finding | Measured]:
    """A bias of the size of the scores is kept by each layer, made for each row of the batch, or too large to make.

    Why: a bias (heads, length, length) is the same for all layers and all rows of a batch. Layers that keep theirs
    until the next call hold layers x batch x heads x length^2 numbers: 34 GiB where 2 are needed. A full bias also
    rules out attention kernels that never make the scores, for which ALiBi needs a row or its slopes.

    Fix: make the bias once for a forward and drop it; `expand` it over the batch instead of `repeat`; for ALiBi give
    the kernel a row (1, heads, 1, keys) or the slopes (flex attention, FlashAttention).

    Sources: NeMo Speech 15751, metaseq 333, pytorch 96099, flash-attention 17, xformers 700.
    """
    found = bias_memory(subject)
    kept = sum(found.kept.values())
    yield Measured(f"bytes kept by modules after {found.length} tokens", kept, 0, "of the size of the scores")
    yield Measured("largest bias grows with the length to the power", round(found.exponent, 2), None, "scores: 2")
    if len(found.kept) > 1:
        yield _kept(found)
    copied = next((bias for bias in found.biases if bias.per_row), None)
    if copied is not None:
        yield _per_row(copied)
    largest = max(found.biases, key=lambda bias: bias.bytes, default=None)
    longest = _longest(subject)
    if largest is not None and longest and found.exponent > 1.5:
        at_longest = largest.bytes * (longest / found.length) ** 2
        yield Measured(f"bytes of the bias at {longest} tokens", at_longest, GIBIBYTE.value, GIBIBYTE.why)
        if at_longest > GIBIBYTE.value:
            yield _whole(largest, at_longest, longest)


def _kept(found: BiasMemory) -> Finding:
    names, kept = list(found.kept), sum(found.kept.values())
    return Finding(
        place(names[0]),
        f"{len(names)} modules each keep a bias after the forward: {kept:,} bytes at {found.length} tokens, growing"
        " with layers, batch, heads and the square of the length",
        f"drop it when the forward ends, or share one: {kept // len(names):,} bytes once, not {kept:,}",
        {"bytes": kept, "modules": len(names), "needed": kept // len(names)},
    )


def _per_row(bias: Whole) -> Finding:
    return Finding(
        bias.where or "the forward",
        f"{bias.operation} makes a bias {bias.shape} that is the same for every row of the batch: {bias.bytes:,} bytes",
        "expand it over the batch instead of repeat: its memory is then independent of the batch",
        {"shape": list(bias.shape), "bytes": bias.bytes},
    )


def _whole(bias: Whole, size: float, longest: int) -> Finding:
    return Finding(
        bias.where or "the forward",
        f"the bias {bias.shape} is made whole: {size / 2**30:.3g} GiB at {longest} tokens, growing with their square",
        "give attention a row (1, heads, 1, keys), which is enough under a causal mask, or the slopes to its kernel",
        {"bytes": size, "length": longest},
        severity="note",
    )


def _longest(subject: Subject) -> int | None:
    """The longest input that is served, else the length that the config states."""
    if subject.has("lengths"):
        return max(map(int, subject.get("lengths")), default=None)
    config = attempt(lambda s: s.config, subject) or {}
    return max((config[key] for key in LENGTH if isinstance(config.get(key), int)), default=None)
