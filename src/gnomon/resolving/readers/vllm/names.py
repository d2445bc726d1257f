"""The names under which vLLM finds kind, base and rotated share: `patch_rope_parameters` over transformers' block."""

from typing import Final

from gnomon.resolving.readers.serving.layers import Layer
from gnomon.resolving.readers.serving.spelling import spelled
from gnomon.resolving.readers.serving.yarn import DEEPSEEK
from gnomon.resolving.reading import DEFAULT
from gnomon.resolving.rules.choices import Choices
from gnomon.resolving.stopping import StackStops

#: pairs of (rope_type, type) that may differ
MAY_DIFFER: Final = frozenset({("longrope", "su"), ("default", "mrope")})


def kind_of(layer: Layer, choices: Choices) -> str:
    """`rope_type`; both spellings at odds end with ValueError, DeepSeek turns any scaling into its own YaRN."""
    new, old = spelled(layer)
    if any(each is not None and not isinstance(each, str) for each in (new, old)):
        raise StackStops(f"rope_type {new!r} and type {old!r} are not both names of a kind")
    at_odds = new is not None and old is not None and new != old and (new, old) not in MAY_DIFFER
    if at_odds and choices.kind_key == "error":
        raise StackStops(f"ValueError: rope_type {new!r} and type {old!r} contradict each other")
    kind = layer.keys.text("kind", "rope_type", default="default")
    if kind == "su":
        return "longrope"
    if kind == "mrope":
        if not layer.keys.has("mrope_section"):
            raise StackStops("ValueError: rope_type mrope needs mrope_section")
        return "default"
    if layer.model_type in DEEPSEEK and kind != "default":
        yarn = layer.keys.take("kind of DeepSeek scaling", "apply_yarn_scaling", default=True)
        return "deepseek_yarn" if yarn else "deepseek_llama_scaling"
    return str(kind)


def base_of(layer: Layer) -> float:
    """The block's, which transformers fills from `rope_theta`; where only the class knew one, `rotary_emb_base`."""
    if layer.block.origins.get("rope_theta", DEFAULT) == DEFAULT:
        given = layer.text.number("base", "rotary_emb_base")
        if given is not None:
            return float(given)
    return float(layer.keys.number("base", "rope_theta", default=10000.0))


def share_of(layer: Layer) -> float:
    """The block's, else `rotary_pct` or `rotary_emb_fraction` beside it, else 1."""
    if layer.block.origins.get("partial_rotary_factor", DEFAULT) == DEFAULT:
        given = layer.text.number("rotated share", "rotary_pct", "rotary_emb_fraction")
        if given is not None:
            return float(given)
    return float(layer.keys.number("rotated share", "partial_rotary_factor", default=1.0))
