"""The layers of one of mlx-lm's models, each kind with its angles, softmax scale and temperature."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

from gnomon.resolving.readers.mlx_lm.fields import base_of, block_of, head_of, longest_of, needed, rotary_of
from gnomon.resolving.readers.mlx_lm.models import Model
from gnomon.resolving.readers.mlx_lm.rope import Scaling, hunyuan, initialized, internlm, minicpm, phi3
from gnomon.resolving.readers.which_layers import by_flags, every, listed_flags
from gnomon.resolving.reading import ALL, LayerReading, Layout
from gnomon.resolving.rules.angles import Temperature
from gnomon.resolving.rules.choices import Choices
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.rules.scaling import ORIGINAL, Scaled, unscaled
from gnomon.resolving.rules.yarn import softmax_multiplier
from gnomon.resolving.stopping import StackStops

FULL, SLIDING = "full_attention", "sliding_attention"
#: what gemma4_text.py has where the file has no rope_parameters
GEMMA4_BLOCKS = {
    FULL: {"partial_rotary_factor": 1.0, "rope_theta": 1e6, "rope_type": "proportional"},
    SLIDING: {"partial_rotary_factor": 1.0, "rope_theta": 1e4, "rope_type": "default"},
}

GEMMA4_WIDTHS = {FULL: ("global_head_dim", 512), SLIDING: ("head_dim", 256)}


def layers_of(keys: Keys, name: str, model: Model, choices: Choices) -> Iterator[LayerReading]:
    """`keys` are those of the text model."""
    if model.kinds == "gemma4":
        yield _gemma4(keys, model, FULL, choices)
        yield _gemma4(keys, model, SLIDING, choices)
        return
    for field in model.needed:
        needed(keys.values.get(field), field)
    head, base = head_of(keys, model), base_of(keys, model)
    dim, block = rotary_of(keys, model, head), block_of(keys, model.block)
    over = Scaled(base, dim, longest_of(keys, model), None)
    rule, schedule = _scaled(keys, name, model, block, over, choices)
    layer = LayerReading(
        ALL,
        head,
        dim,
        base,
        rule,
        _layout(keys, model),
        schedule,
        softmax=_softmax(keys, model, block, head),
        temperature=_temperature(block) if name == "ministral3" else None,
    )
    if model.scaling == "internlm" and rule == "dynamic":
        layer = replace(layer, notes=("positions are doubled",))
    yield from _kinds(keys, model, layer)


def _scaled(keys: Keys, name: str, model: Model, block: Keys | None, over: Scaled, choices: Choices) -> Scaling:
    base, dim, longest = over.base, over.dim, over.longest
    if model.scaling == "bare":
        for key in ("type", "rope_type", "factor"):
            keys.part("rope_scaling").lose(key, "this model turns by nn.RoPE alone")
        return "default", unscaled(over)
    if model.scaling == "phi3":
        return phi3(keys, block, over, choices)
    if model.scaling == "minicpm":
        return minicpm(block, base, dim)
    if model.scaling == "hunyuan":
        return hunyuan(block, base, dim)
    if model.scaling == "internlm":
        if not longest or longest < 0:
            raise StackStops("ZeroDivisionError: max_position_embeddings is 0")
        return internlm(block, base, dim, longest, key="type" if name == "internlm2" else "rope_type")
    return initialized(block, over, choices)


def _layout(keys: Keys, model: Model) -> Layout:
    """`rope_traditional` turns neighbours, in the model files that ask for it."""
    if model.layout == "half" and keys.take("layout", "rope_traditional", default=False):
        return "interleaved"
    return model.layout


def _softmax(keys: Keys, model: Model, block: Keys | None, head: int) -> float:
    if model.scalar is not None:
        scalar = keys.number("softmax scale", "query_pre_attn_scalar", default=model.scalar)
        if not scalar > 0:
            raise StackStops(f"query_pre_attn_scalar is {scalar:g}, which has no root")
        return math.sqrt(head / scalar)
    if model.head != "latent" or block is None:
        return 1.0
    return softmax_multiplier(block)


def _temperature(block: Keys | None) -> Temperature:
    if block is None:
        raise StackStops("TypeError: 'NoneType' object is not subscriptable (rope_parameters)")
    beta, length = block.number("temperature", "llama_4_scaling_beta"), block.number("original length", ORIGINAL)
    if beta is None or not length or length < 0:
        raise StackStops("KeyError: rope_parameters lacks llama_4_scaling_beta or original_max_position_embeddings")
    return Temperature(float(beta), float(length))


def _kinds(keys: Keys, model: Model, layer: LayerReading) -> Iterator[LayerReading]:
    still = replace(layer, rotary_dim=0, base=None, rule="none")
    if model.kinds == "gemma3":
        base = float(keys.number("base of sliding layers", "rope_local_base_freq", default=1e4))
        schedule = unscaled(Scaled(base, layer.rotary_dim, None, None))
        yield replace(layer, kind=FULL)
        yield replace(layer, kind=SLIDING, base=base, rule="default", schedule=schedule)
    elif model.kinds == "sliding only":
        yield replace(layer, kind=SLIDING)
        yield replace(still, kind=FULL)
    elif model.kinds == "every fourth":
        keys.lose("no_rope_layers", "every fourth layer does not turn, whatever the list says")
        flags = every(4, keys.values.get("num_hidden_layers"))
        yield from by_flags(flags, layer, replace(still, temperature=_llama4(keys)))
    elif model.kinds == "listed":
        yield from by_flags(listed_flags(keys), layer, still)
    else:
        yield layer


def _llama4(keys: Keys) -> Temperature | None:
    if not keys.take("temperature", "attn_temperature_tuning", default=4):
        return None
    scale = keys.number("temperature", "attn_scale", default=0.1)
    length = keys.number("temperature length", "floor_scale", default=8192.0)
    if not length > 0:
        raise StackStops("ZeroDivisionError: floor_scale is 0")
    return Temperature(float(scale), float(length), shift=1)


def _gemma4(keys: Keys, model: Model, kind: str, choices: Choices) -> LayerReading:
    """A block for each kind of layer; the logits are not scaled by the width of a head."""
    name, usual = GEMMA4_WIDTHS[kind]
    head = keys.whole("head width", name, default=usual)
    outer = block_of(keys, model.block)
    if outer is None:
        block: Keys = keys.laid(GEMMA4_BLOCKS[kind], {})
    else:
        held = outer.values.get(kind, {})
        if not isinstance(held, Mapping):
            raise StackStops(f"AttributeError: rope_parameters.{kind} has no keys")
        block = outer.part(kind)
    if not head > 0:
        raise StackStops(f"a head of {head} columns cannot be built")
    base = float(block.number("base", "rope_theta", default=1e4))
    rule, schedule = initialized(block, Scaled(base, head, longest_of(keys, model), None), choices)
    return LayerReading(kind, head, head, base, rule, model.layout, schedule, softmax=math.sqrt(head))
