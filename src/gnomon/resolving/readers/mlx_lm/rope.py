"""mlx-lm's `initialize_rope`, and the rules that single model files have instead.

Sources: `mlx_lm/models/{rope_utils,phi3,minicpm,internlm2,internlm3,hunyuan_v1_dense}.py`.
"""

import math
from dataclasses import replace
from typing import Any

from gnomon.resolving.rules import formulas, scaling
from gnomon.resolving.rules.angles import Always, Angles, Growing, Schedule
from gnomon.resolving.rules.choices import Choices, unknown
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.rules.longrope import longrope
from gnomon.resolving.rules.scaling import ORIGINAL, Scaled
from gnomon.resolving.rules.yarn import yarn
from gnomon.resolving.stopping import StackStops

YARNS = ("yarn", "deepseek_yarn", "telechat3-yarn")
DOUBLED = 2.0  #: what positions are multiplied by where nothing is to be scaled (internlm2.py, internlm3.py)
Scaling = tuple[str, Schedule]


def initialized(block: Keys | None, over: Scaled, choices: Choices) -> Scaling:
    """The kind of scaling in the words of transformers, and the angles; the original length is looked for here."""
    if block is None:
        return "default", scaling.unscaled(over)
    kind = block.text("kind", *choices.kind_names) or "default"
    if kind in ("default", "mrope"):
        if kind == "mrope" and len(_list(block, "mrope_section")) != 3:
            raise StackStops("AssertionError: MRoPE only supports 3 sections")
        return "default", scaling.unscaled(over)
    if kind == "proportional":
        return kind, _proportional(block, over.base, over.dim)
    if kind not in ("linear", "dynamic", "llama3", "longrope", *YARNS):
        unknown(choices, f"ValueError: Unsupported RoPE type {kind}")
        return "default", scaling.unscaled(over)
    if kind != "longrope" and block.values.get("factor") is None:
        raise StackStops("KeyError: 'factor'")
    if kind == "linear":
        return kind, scaling.linear(over, block)
    if kind == "dynamic":
        return kind, scaling.dynamic(over, block, choices)
    length = block.number("original length", ORIGINAL)
    over = replace(over, original=length)
    if kind == "llama3":
        return kind, scaling.llama3(over, block, low=1.0, high=4.0, original=8192.0)
    if kind == "longrope":
        return kind, longrope(over, block, choices)
    return "yarn", yarn(replace(over, original=length or 4096.0), block, choices)


def phi3(keys: Keys, block: Keys | None, over: Scaled, choices: Choices) -> Scaling:
    """The long list always, over the length outside the block; other kinds but linear are switched off with a print."""
    length = keys.number("original length", ORIGINAL, default=4096.0)
    plain = replace(over, original=length)
    if block is None or not block.values:
        return "default", scaling.unscaled(plain)
    if missing := [name for name in ("long_factor", "type", "short_factor") if name not in block.values]:
        raise StackStops(f"ValueError: rope_scaling must contain the keys {', '.join(missing)}")
    kind = block.text("kind", "type")
    if kind in ("longrope", "su"):
        return "longrope", longrope(plain, block, choices)
    if kind == "linear":
        if not isinstance(block.values.get("factor"), float):
            raise StackStops("AssertionError: the factor of linear must be written with a point")
        return kind, scaling.linear(plain, block)
    block.lose("factor", f"{kind} is not known: scaling is switched off with a warning")
    return "default", scaling.unscaled(plain)


def minicpm(block: Keys | None, base: float, dim: int) -> Scaling:
    """Linear or nothing."""
    plain = Scaled(base, dim, None, None)
    if block is None:
        return "default", scaling.unscaled(plain)
    if "type" not in block.values:
        raise StackStops("KeyError: 'type'")
    if block.take("kind", "type") == "linear":
        return "linear", scaling.linear(plain, block)
    return "default", scaling.unscaled(plain)


def internlm(block: Keys | None, base: float, dim: int, longest: float, *, key: str) -> Scaling:
    """Linear divides positions; without scaling and with dynamic they are doubled, and the base grows as for factor 2.

    The code counts the heads of a call where it means its tokens; here the tokens are counted.
    """
    positions = DOUBLED
    if block is not None and block.values:
        kind = block.take("kind", key)
        if kind not in ("linear", "dynamic") or block.values.get("factor") is None:
            raise StackStops(f"ValueError: rope_scaling must contain factor, and {key!r} linear or dynamic")
        if kind == "linear":
            positions = 1 / scaling_factor(block)
        else:
            block.lose("factor", "with dynamic the factor 2 is built in")

    plain = formulas.plain(base, dim)

    def angles(length: float) -> Angles:
        grown = positions * length / longest - (positions - 1)
        if length <= longest:
            return Angles(plain * positions)
        own = formulas.ntk_base(base, grown, dim)
        return Angles(plain * math.nan if math.isnan(own) else formulas.plain(own, dim) * positions)

    rule = "dynamic" if positions == DOUBLED else "linear"
    return rule, Growing(angles, longest, "sequence", f"base changes above {longest:g}")


def hunyuan(block: Keys | None, base: float, dim: int) -> Scaling:
    """alpha alone."""
    if block is None or not block.values:
        return "default", scaling.unscaled(Scaled(base, dim, None, None))
    if missing := [name for name in ("alpha", "factor", "type") if name not in block.values]:
        raise StackStops(f"ValueError: rope_scaling must contain the keys {', '.join(missing)}")
    for name in ("factor", "type", "mscale", "mscale_all_dim", "beta_fast", "beta_slow"):
        block.lose(name, "only alpha counts")
    return "dynamic", scaling.by_alpha(Scaled(base, dim, None, None), block.number("alpha", "alpha", default=1.0))


def scaling_factor(block: Keys) -> float:
    """The factor; raises StackStops for zero, which is divided by."""
    factor = block.number("factor", "factor")
    if not factor:
        raise StackStops("ZeroDivisionError: the factor is 0")
    return float(factor)


def _proportional(block: Keys, base: float, dim: int) -> Schedule:
    share = block.number("share of a head", "partial_rotary_factor", default=1.0)
    factor = block.number("factor", "factor", default=1.0)
    if not 0 < share <= 1 or not factor:
        raise StackStops(f"ValueError: a share of {share:g} and a factor of {factor:g} make no frequencies")
    return Always(Angles(formulas.proportional(base, dim, share, factor)))


def _list(block: Keys, name: str) -> list[Any]:
    held = block.take("sections", name)
    return list(held) if isinstance(held, list | tuple) else []
