"""ollama's runner on MLX: base and width of a head, and nothing that scales.

Source: `x/mlxrunner`, `x/models/{llama,qwen3,gemma3}` of ollama at fb307609 (August 2026).
"""

from collections.abc import Iterator
from dataclasses import replace

from gnomon.resolving.reading import ALL, LayerReading
from gnomon.resolving.rules.angles import Always, Angles
from gnomon.resolving.rules.formulas import plain
from gnomon.resolving.rules.keys import BLOCKS, Keys
from gnomon.resolving.stopping import NoSuchModel, StackStops

BASES = {"llama": 1e4, "qwen3": 1e6, "gemma3": 1e6, "gemma3_text": 1e6}
LOCAL = 1e4


def layers_of(keys: Keys, model_type: str) -> Iterator[LayerReading]:
    """`keys` are those of the text model."""
    base = keys.number("base", "rope_theta", default=BASES[model_type])
    for name in BLOCKS:
        for key in keys.part(name).values:
            keys.part(name).lose(key, "the runner scales nothing")
    head = _head(keys)
    layer = LayerReading(ALL, head, head, base, "default", "half", Always(Angles(plain(base, head))))
    if not model_type.startswith("gemma3"):
        yield layer
        return
    scalar = keys.number("softmax scale", "query_pre_attn_scalar")
    if scalar is not None and scalar != head:
        raise NoSuchModel("the softmax scale of ollama's MLX runner for this Gemma 3 was not traced")
    local = keys.number("base of sliding layers", "rope_local_base_freq", default=LOCAL)
    yield replace(layer, kind="full_attention")
    yield replace(layer, kind="sliding_attention", base=local, schedule=Always(Angles(plain(local, head))))


def _head(keys: Keys) -> int:
    head = keys.whole("head width", "head_dim")
    if not head:
        width, heads = keys.whole("width", "hidden_size"), keys.whole("heads", "num_attention_heads")
        if not width or not heads:
            raise StackStops("the file lacks hidden_size or num_attention_heads")
        head = width // heads
    if head <= 0:
        raise StackStops(f"a head of {head} columns cannot be built")
    return int(head)
