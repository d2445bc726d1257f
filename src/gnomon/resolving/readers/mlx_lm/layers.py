"""The layers of one of mlx-lm's models, each kind with its angles, softmax scale and temperature."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

from gnomon.resolving.readers.mlx_lm.fields import base_of, block_of, head_of, longest_of, needed, rotary_of
from gnomon.resolving.readers.mlx_lm.models import Model
from gnomon.resolving.readers.mlx_lm.rope import Scaling, hunyuan, initialized, internlm, minicpm, phi3
from gnomon.resolving.reading import ALL, STILL, TURNING, LayerReading, Layout
from gnomon.resolving.rules.angles import Temperature
from gnomon.resolving.rules.formulas import magnitude
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.rules.scaling import ORIGINAL
from gnomon.resolving.stopping import StackStops

FULL, SLIDING = "full_attention", "sliding_attention"
#: what gemma4_text.py has where the file has no rope_parameters
GEMMA4_BLOCKS = {
    FULL: {"partial_rotary_factor": 1.0, "rope_theta": 1e6, "rope_type": "proportional"},
    SLIDING: {"partial_rotary_factor": 1.0, "rope_theta": 1e4, "rope_type": "default"},
}


def layers_of(keys: Keys, name: str, model: Model) -> Iterator[LayerReading]:
    """`keys` are those of the text model."""
    if model.kinds == "gemma4":
        yield _gemma4(keys, model, FULL, "global_head_dim", 512)
        yield _gemma4(keys, model, SLIDING, "head_dim", 256)
        return
    for field in model.needed:
        needed(keys.values.get(field), field)
    head, base = head_of(keys, model), base_of(keys, model)
    dim, block = rotary_of(keys, model, head), block_of(keys, model.block)
    rule, schedule = _scaled(keys, name, model, block, base, dim)
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


def _scaled(keys: Keys, name: str, model: Model, block: Keys | None, base: float, dim: int) -> Scaling:
    longest = longest_of(keys, model)
    if model.scaling == "bare":
        for key in ("type", "rope_type", "factor"):
            keys.part("rope_scaling").lose(key, "this model turns by nn.RoPE alone")
        return initialized(None, base, dim, longest)
    if model.scaling == "phi3":
        return phi3(keys, block, base, dim, longest)
    if model.scaling == "minicpm":
        return minicpm(block, base, dim)
    if model.scaling == "hunyuan":
        return hunyuan(block, base, dim)
    if model.scaling == "internlm":
        if not longest or longest < 0:
            raise StackStops("ZeroDivisionError: max_position_embeddings is 0")
        return internlm(block, base, dim, longest, key="type" if name == "internlm2" else "rope_type")
    return initialized(block, base, dim, longest)


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
    all_dim = block.number("mscale_all_dim", "mscale_all_dim", default=0.0)
    factor = block.number("factor", "factor", default=1.0)
    scale = magnitude(factor, all_dim) if all_dim else 1.0
    return scale * scale


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
        rule, schedule = initialized(None, base, layer.rotary_dim, None)
        yield replace(layer, kind=FULL)
        yield replace(layer, kind=SLIDING, base=base, rule=rule, schedule=schedule)
    elif model.kinds == "sliding only":
        yield replace(layer, kind=SLIDING)
        yield replace(still, kind=FULL)
    elif model.kinds == "every fourth":
        keys.lose("no_rope_layers", "every fourth layer does not turn, whatever the list says")
        yield replace(layer, kind=TURNING)
        yield replace(still, kind=STILL, temperature=_llama4(keys))
    elif model.kinds == "listed":
        yield from _listed(keys, layer, still)
    else:
        yield layer


def _listed(keys: Keys, layer: LayerReading, still: LayerReading) -> Iterator[LayerReading]:
    listed = keys.take("layers without rotation", "no_rope_layers")
    if listed is None:
        keys.whole("layers without rotation", "no_rope_layer_interval", default=4)
        listed = [1, 0]
    elif not isinstance(listed, list | tuple):
        raise StackStops("TypeError: no_rope_layers is no list")
    if any(listed):
        yield replace(layer, kind=TURNING)
    if not all(listed):
        yield replace(still, kind=STILL)


def _llama4(keys: Keys) -> Temperature | None:
    if not keys.take("temperature", "attn_temperature_tuning", default=4):
        return None
    scale = keys.number("temperature", "attn_scale", default=0.1)
    length = keys.number("temperature length", "floor_scale", default=8192.0)
    if not length > 0:
        raise StackStops("ZeroDivisionError: floor_scale is 0")
    return Temperature(float(scale), float(length), shift=1)


def _gemma4(keys: Keys, model: Model, kind: str, width: str, default: int) -> LayerReading:
    """A block for each kind of layer; the logits are not scaled by the width of a head."""
    head = keys.whole("head width", width, default=default)
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
    rule, schedule = initialized(block, base, head, longest_of(keys, model))
    return LayerReading(kind, head, head, base, rule, model.layout, schedule, softmax=math.sqrt(head))
