"""The tables that the builder makes: YaRN wherever `beta_fast` stands, linear, LongRoPE in two tables, else plain.

Sources: `make_rope_init`, `make_inv_freq_rescaled*`, `make_mscale` in `src/python/py/models/builders/base.py`;
`builders/{llama,phi,gemma,hunyuan}.py` of onnxruntime-genai (2026).
"""

from gnomon.resolving.rules import formulas, scaling
from gnomon.resolving.rules.angles import Always, Angles, Schedule, Switched
from gnomon.resolving.rules.choices import Choices, unknown
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.rules.scaling import Scaled
from gnomon.resolving.rules.yarn import ends_rounded
from gnomon.resolving.stopping import StackStops

Scaling = tuple[str, Schedule]


def scaled(block: Keys, over: Scaled, head: int, choices: Choices, *, builder: str) -> Scaling:
    """The kind of scaling in the words of transformers, and the angles; `head` is the whole width of a head.

    `over.longest` is the length of the tables, `over.original` what the builder calls original_context_length.
    """
    kind = block.text("kind", *choices.kind_names, default="default")
    if builder == "hunyuan_v1_dense":
        return _hunyuan(block, over)
    if builder == "phi3" and kind == "longrope":
        return kind, _longrope(block, over)
    if block.values.get("beta_fast") is not None:
        return "yarn", _yarn(block, over, head, choices)
    if builder in ("llama", "smollm3") and kind == "llama3":
        return kind, scaling.llama3(over, block)
    if kind == "linear":
        return kind, scaling.linear(over, block)
    if kind != "default":
        unknown(choices, f"no rule for {kind}")
        block.lose("factor", f"the builder has no rule for {kind} without beta_fast: plain tables")
    return "default", scaling.unscaled(over)


def magnitude(block: Keys, factor: float) -> float:
    """Both numbers above zero: their ratio; mscale alone: that number itself; else g(factor)."""
    above, below = block.number("mscale", "mscale", default=0.0), block.number("mscale", "mscale_all_dim", default=0.0)
    if above > 0 and below > 0:
        return formulas.magnitude(factor, above) / formulas.magnitude(factor, below)
    return float(above) if above > 0 else formulas.magnitude(factor)


def _yarn(block: Keys, over: Scaled, head: int, choices: Choices) -> Schedule:
    """The ends of the ramp have to lie within the pairs of a whole head."""
    factor = block.number("factor", "factor")
    if factor is None or not factor:
        raise StackStops("KeyError: 'factor'")
    length = over.original or over.longest
    if length is None:
        raise StackStops("the file lacks max_position_embeddings")
    fast, slow = block.number("beta_fast", "beta_fast"), block.number("beta_slow", "beta_slow", default=0.0)
    low, high = formulas.ramp_ends(over.base, head, length, fast, slow)
    if not 0 < low < high < head / 2 - 1:
        raise StackStops(f"AssertionError: 0 < {low:.2f} < {high:.2f} < {head / 2 - 1:g} does not hold")
    block.lose("attention_factor", "not read")
    inverse = formulas.yarn(over.plain, factor, low, high, rounded=ends_rounded(block, choices), most=head - 1)
    return Always(Angles(inverse, magnitude(block, factor)))


def _longrope(block: Keys, over: Scaled) -> Schedule:
    """Two tables in the graph, chosen by the length of the sequence while it runs."""
    if not over.original or over.longest is None:
        raise StackStops("the file lacks original_max_position_embeddings or max_position_embeddings")
    usual = formulas.longrope_magnitude(over.longest / over.original, over.original)
    halves = []
    for which in ("short", "long"):
        divisors = block.numbers(f"{which} list", f"{which}_factor")
        if divisors is None:
            raise StackStops(f"KeyError: '{which}_factor'")
        own = block.number(f"{which} factor on cos and sin", f"{which}_mscale", default=0.0)
        inverse = formulas.divided(over.plain, divisors, f"{which}_factor")
        halves.append(Angles(inverse, own if own > 0 else usual))
    words = f"long table for sequences above {over.original:g} tokens"
    return Switched(halves[0], halves[1], over.original, "sequence", words)


def _hunyuan(block: Keys, over: Scaled) -> Scaling:
    alpha = block.number("alpha", "alpha", default=1.0)
    for name in ("factor", "type", "mscale", "mscale_all_dim", "beta_fast", "beta_slow"):
        block.lose(name, "only alpha counts")
    if alpha == 1:
        return "default", scaling.unscaled(over)
    return "dynamic", scaling.by_alpha(over, alpha)
