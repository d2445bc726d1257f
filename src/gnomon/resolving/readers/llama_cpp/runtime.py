"""From metadata and lists of divisors to angles, as llama.cpp's loader, context and kernel do it.

Everything is computed in float64; the kernel builds its angles by repeated multiplication in float32, which differs by
rounding only. Sources: `src/llama-model.cpp`, `src/llama-context.cpp`, `src/models/*.cpp` (llama.cpp, 2026);
`ggml/src/ggml-cpu/ops.cpp`; `src/llama-hparams.cpp` of ik_llama.cpp 8337e4cd.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import final

from gnomon.resolving.readers.llama_cpp.architectures import (
    BY_SECTIONS,
    LOG_MULTIPLIERS,
    MODES,
    PERMUTATION,
    PERMUTED,
    READS_BETAS,
    READS_YARN_KEYS,
    WHOLE_HEADS,
    layout_of,
)
from gnomon.resolving.readers.llama_cpp.flags import flags
from gnomon.resolving.readers.llama_cpp.kernel import LONG, ONE, SHORT, UNMOVED, Rope, schedule
from gnomon.resolving.readers.llama_cpp.kinds import kinds, softmax_of
from gnomon.resolving.readers.llama_cpp.magnitudes import Factors, Magnitude, cancelled, multiplied
from gnomon.resolving.reading import ALL, LayerReading
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.stopping import NoSuchModel, StackStops

#: flags stand under their own names in the metadata of a remedy; no file has such keys
BETA_FLAGS = ("--yarn-beta-fast", "--yarn-beta-slow")
PER_LAYER = "rope_dim_per_layer"
KINDS = ("none", "linear", "yarn", "longrope")
Lists = Mapping[str, tuple[float, ...]]


@final
@dataclass(frozen=True)
class Rules:
    """What differs between versions: `cancels` since PR #17945; `fork` is ik_llama.cpp."""

    cancels: bool = True
    fork: bool = False


@final
@dataclass(frozen=True, eq=False)
class Loaded:
    """What the runtime makes of one file."""

    layers: tuple[LayerReading, ...]
    cap: int | None
    notes: tuple[str, ...] = ()


def loaded(keys: Keys, architecture: str, factors: Lists, rules: Rules) -> Loaded:
    """`keys` are the names under the architecture. Raises StackStops and NoSuchModel as a stack's reader does."""
    layout = layout_of(architecture)
    sections = None
    if MODES[architecture] in ("mrope", "imrope") or architecture in BY_SECTIONS:
        sections = keys.take("sections", "rope.dimension_sections")
    if architecture in BY_SECTIONS and sections:
        layout = "half"
    if rules.fork and keys.has(PER_LAYER):
        raise NoSuchModel(f"{PER_LAYER} gives each layer a width of its own in ik_llama.cpp, which was not traced")
    head = _head(keys, architecture)
    rope = _rope(keys, architecture, head, factors, rules)
    magnitude = _magnitude(keys, architecture, rope, rules)
    rope = replace(rope, internal=magnitude.internal)
    lists = _lists(architecture, rope.kind, factors)
    layer = LayerReading(
        kind=ALL,
        head_dim=head,
        rotary_dim=rope.dim,
        base=rope.base,
        rule=_rule(rope, lists),
        layout=layout,
        schedule=schedule(rope, lists),
        softmax=magnitude.softmax * softmax_of(keys, architecture, head),
        permuted=PERMUTATION if architecture in PERMUTED else "",
    )
    cap = keys.whole("cap", "context_length")
    layers = tuple(kinds(keys, architecture, layer, rope, fork=rules.fork))
    return Loaded(layers, cap, tuple(flags(keys, architecture, rope, factors, rules.cancels)))


def _head(keys: Keys, architecture: str) -> int:
    """The width that the softmax scale is made of: with DeepSeek's latent attention that of the unfolded head."""
    names = ("attention.key_length_mla",) if architecture == "deepseek2" else ()
    head = keys.whole("head width", *names, "attention.key_length")
    if head is None:
        width, heads = keys.whole("width", "embedding_length"), keys.whole("heads", "attention.head_count")
        if not width or not heads:
            raise StackStops("the file lacks embedding_length or attention.head_count")
        head = width // heads
    if head <= 0:
        raise StackStops(f"a head of {head} columns cannot be loaded")
    return int(head)


def _rope(keys: Keys, architecture: str, head: int, factors: Lists, rules: Rules) -> Rope:
    dim = keys.whole("rotary width", "rope.dimension_count", default=head)
    if architecture in WHOLE_HEADS and dim != head:
        raise StackStops(f"rope.dimension_count is {dim} where {architecture} rotates the whole head of {head} columns")
    kind = keys.text("scaling type", "rope.scaling.type", default="linear")
    if kind not in KINDS or (rules.fork and kind == "longrope"):
        raise StackStops(f"rope.scaling.type {kind!r} is unknown: GGML_ASSERT ends the program")
    factor = _factor(keys, kind)
    extends = _extends(keys, architecture, kind)
    counted = extends or LONG in _lists(architecture, kind, factors) or architecture == "mistral3"
    return Rope(
        base=keys.number("base", "rope.freq_base", default=1e4),
        dim=dim,
        kind=kind,
        factor=factor,
        original=_original(keys) if counted else None,
        extends=extends,
        betas=_betas(keys, architecture),
    )


def _original(keys: Keys) -> float | None:
    """The context for want of the original length; asked for where turns are counted or lists are switched."""
    given = keys.number("original length", "rope.scaling.original_context_length")
    found = given or keys.number("original length", "context_length")
    return None if found is None else float(found)


def _factor(keys: Keys, kind: str) -> float:
    given = keys.number("factor", "rope.scaling.factor", "rope.scale_linear")
    if kind == "none":
        keys.lose("rope.scaling.factor", "nothing is scaled with the type none")
        return 1.0
    if given is not None and given < 0:
        raise StackStops(f"a factor of {given:g} turns everything backwards; llama.cpp's answer was not traced")
    return float(given or 1.0)


def _extends(keys: Keys, architecture: str, kind: str) -> float:
    """How much of the frequencies above the ramp is kept: 1 with YaRN, 0 without."""
    if architecture in READS_YARN_KEYS:
        given = keys.number("extrapolation", "rope.scaling.yarn_ext_factor")
        if given is not None and given >= 0:
            return float(given)
    keys.lose("rope.scaling.yarn_ext_factor", f"the loader of {architecture} does not ask for it")
    return 1.0 if kind == "yarn" else 0.0


def _betas(keys: Keys, architecture: str) -> tuple[float, float]:
    """By the flags, else by the keys in the architectures that ask for them."""
    ends = []
    for name, flag, usual in zip(("beta_fast", "beta_slow"), BETA_FLAGS, (32.0, 1.0), strict=True):
        key = f"rope.scaling.yarn_{name}"
        if architecture in READS_BETAS:
            ends.append(keys.number(name, flag, key, default=usual))
            continue
        keys.lose(key, f"the loader of {architecture} does not ask for it; 32 and 1 unless flags say otherwise")
        ends.append(keys.number(name, flag, default=usual))
    return ends[0], ends[1]


def _magnitude(keys: Keys, architecture: str, rope: Rope, rules: Rules) -> Magnitude:
    """Step d of the context: which of the file's factors count."""
    own = 1.0
    if architecture in READS_YARN_KEYS and not (rules.cancels and rope.extends):
        own = keys.number("attention factor", "rope.scaling.yarn_attn_factor", default=1.0)
    else:
        why = (
            "overwritten under YaRN" if rope.extends and rules.cancels else f"not asked for by {architecture}'s loader"
        )
        keys.lose("rope.scaling.yarn_attn_factor", why)
    multiplier = 0.0
    if architecture in LOG_MULTIPLIERS:
        multiplier = keys.number("log multiplier", "rope.scaling.yarn_log_multiplier", default=0.0)
    given = Factors(
        architecture,
        rope.factor,
        bool(rope.extends),
        multiplier,
        own,
        keys.number("factor on cos and sin", "rope.scaling.attn_factor", default=1.0),
    )
    return cancelled(given) if rules.cancels else multiplied(given)


def _lists(architecture: str, kind: str, factors: Lists) -> Lists:
    """Those that the architecture loads: rope_freqs first, the pair of lists else."""
    if ONE in factors:
        return {ONE: factors[ONE]}
    if architecture == "llama" and kind != "longrope":
        return {}
    return {name: factors[name] for name in (LONG, SHORT) if name in factors}


def _rule(rope: Rope, lists: Lists) -> str:
    if ONE in lists:
        return "proportional" if max(lists[ONE], default=0) >= UNMOVED else "llama3"
    if lists:
        return "longrope"
    return rope.kind if rope.kind == "yarn" or rope.factor != 1 else "default"
