"""One layer for each kind that an architecture of llama.cpp tells apart, with its softmax scale and temperature."""

import math
from collections.abc import Iterator
from dataclasses import replace

from gnomon.resolving.readers.llama_cpp.architectures import (
    COPIED_SLIDING_BASE,
    OWN_SLIDING_BASE,
    PLAIN_SLIDING,
    SLIDING_ONLY,
    STILL_EVERY,
    SWITCHED_OFF,
)
from gnomon.resolving.readers.llama_cpp.kernel import Rope, schedule
from gnomon.resolving.readers.which_layers import by_flags, every
from gnomon.resolving.reading import LayerReading
from gnomon.resolving.rules.angles import Temperature
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.stopping import StackStops

STEP = "every {}th layer, whatever the config lists"
#: block counts at which the loader takes a model for the one of 27 billion weights
LARGEST = {"gemma2": 46, "gemma3": 62}


def softmax_of(keys: Keys, architecture: str, head: int) -> float:
    """What the architecture's own scale is, over 1/sqrt(head width)."""
    if architecture == "gemma4":
        keys.note("softmax scale", 1.0)
        return math.sqrt(head)
    if architecture in ("granite", "granitemoe"):
        scale = keys.number("softmax scale", "attention.scale")
        return float(scale) * math.sqrt(head) if scale else 1.0
    if architecture in LARGEST and keys.whole("blocks", "block_count") == LARGEST[architecture]:
        width, heads = keys.whole("width", "embedding_length"), keys.whole("heads", "attention.head_count")
        if width and heads and width >= heads > 0:
            return math.sqrt(head / (width // heads))
    return 1.0


def temperature_of(keys: Keys, architecture: str, original: float | None) -> Temperature | None:
    """A factor on the logits that grows with the position: fixed in Llama 4, by the file in Mistral 3."""
    if architecture == "llama4":
        return Temperature(0.1, 8192, shift=1)
    scale = keys.number("temperature", "attention.temperature_scale") if architecture == "mistral3" else None
    if not scale:
        return None
    if not original or original < 0:
        raise StackStops("attention.temperature_scale needs an original length")
    return Temperature(float(scale), original)


def kinds(keys: Keys, architecture: str, layer: LayerReading, rope: Rope, *, fork: bool) -> Iterator[LayerReading]:
    """`layer` is the one that sees everything; `fork` says that ik_llama.cpp reads."""
    warmth = temperature_of(keys, architecture, rope.original)
    still = replace(layer, rotary_dim=0, base=None, rule="none", temperature=warmth)
    if architecture in STILL_EVERY:
        step = STILL_EVERY[architecture]
        flags = every(step, keys.values.get("block_count"))
        yield from by_flags(flags, layer, replace(still, notes=(STEP.format(step),)))
    elif architecture in SLIDING_ONLY:
        base = keys.number("base of sliding layers", "rope.freq_base_swa", default=rope.base)
        yield replace(layer, kind="sliding_attention", base=base, schedule=schedule(replace(rope, base=base), {}))
        yield replace(still, kind="full_attention")
    elif architecture in PLAIN_SLIDING and keys.whole("sliding window", "attention.sliding_window"):
        base = keys.number("base of sliding layers", "rope.freq_base_swa", default=rope.base)
        own = replace(rope, base=base, factor=1.0, extends=0.0, internal=1.0)
        yield replace(layer, kind="full_attention")
        yield replace(layer, kind="sliding_attention", base=base, rule="default", schedule=schedule(own, {}))
    elif architecture in COPIED_SLIDING_BASE and (base := keys.number("base of sliding layers", "rope.freq_base_swa")):
        yield replace(layer, kind="full_attention")
        copied = schedule(replace(rope, base=float(base)), {})
        yield replace(layer, kind="sliding_attention", base=float(base), schedule=copied)
    elif architecture in SWITCHED_OFF and keys.take("rotation", "rope.scaling.finetuned", default=True) is False:
        yield replace(still, notes=("rope.scaling.finetuned is false: nothing turns",))
    elif architecture in OWN_SLIDING_BASE and keys.whole("sliding window", "attention.sliding_window"):
        yield replace(layer, kind="full_attention")
        yield _sliding(keys, layer, rope, fork=fork)
    else:
        yield replace(layer, temperature=warmth)


def _sliding(keys: Keys, layer: LayerReading, rope: Rope, *, fork: bool) -> LayerReading:
    """Unscaled, over a base of its own; ik_llama.cpp takes base and factor of the other layers where none is given."""
    base = keys.number("base of sliding layers", "rope.freq_base_swa", default=rope.base if fork else 1e4)
    head = keys.whole("head width of sliding layers", "attention.key_length_swa") or layer.head_dim
    dim = keys.whole("rotary width of sliding layers", "rope.dimension_count_swa") or min(rope.dim, head)
    own = replace(rope, base=base, dim=dim, factor=rope.factor if fork else 1.0)
    return replace(
        layer,
        kind="sliding_attention",
        head_dim=head,
        rotary_dim=dim,
        base=base,
        rule="default" if own.factor == 1 else rope.kind,
        schedule=schedule(own, {}),
        softmax=layer.softmax * math.sqrt(head / layer.head_dim) if head > 0 else layer.softmax,
    )
