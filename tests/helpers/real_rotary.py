"""Rotary and attention modules of transformers, built from a config without weights: what our reading must equal.

Classes are found by their names in the family's modeling module. Attention lives on the meta device: only its scale is
looked at.
"""

import importlib
import inspect
import logging
import math
from collections.abc import Callable, Mapping
from copy import deepcopy
from types import ModuleType
from typing import Any, final

import numpy as np
import torch
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from gnomon.resolving.reading import ALL, TURNING, LayerReading, Reading
from gnomon.resolving.rules.angles import Always, Angles

logging.getLogger("transformers").setLevel(logging.CRITICAL)
SCALES = ("scaling", "inv_norm_factor")
HEADS = ("qk_head_dim", "head_dim", "head_size", "head_width")


def real_config(config: Mapping[str, Any]) -> Any:
    """The text config that transformers makes of a file; model types with code on the hub are taken as Llama."""
    held = deepcopy(dict(config))
    name = held.pop("model_type")
    if name not in CONFIG_MAPPING:
        name = "llama"
    return CONFIG_MAPPING[name](**held).get_text_config()


@final
class RealRotary:
    """The rotary module of a config; `at` makes it compute for the newest of `length` tokens.

    A module is made anew for each length: one with dynamic scaling remembers the longest sequence that it saw.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        self.config = real_config(config)
        self.modeling = _modeling(self.config)
        self._made = _named(self.modeling, "RotaryEmbedding")

    def at(self, length: int, kind: str | None = None) -> tuple[np.ndarray, float]:
        """Frequencies, float64 (pairs,), and the factor on cos and sin, for one kind of layer."""
        module = self._made(self.config)
        if hasattr(module, "embed_positions"):  # GPT-J
            sines = torch.as_tensor(module.embed_positions).double().numpy()
            return np.arcsin(sines[1, : sines.shape[1] // 2]), 1.0
        nested = isinstance(module.rope_type, dict)
        prefix = f"{kind}_" if nested else ""
        extra = {"layer_type": kind} if nested else {}
        module(torch.zeros(1, 1), torch.tensor([[length - 1]]), **extra)
        factor = getattr(module, f"{prefix}attention_scaling")
        return getattr(module, f"{prefix}inv_freq").double().numpy(), float(factor)

    def softmax(self, kind: str | None = None) -> float:
        """The attention's own scale over 1/sqrt(head width)."""
        types = getattr(self.config, "layer_types", None) or []
        layer = types.index(kind) if kind in types else 0
        made = _named(self.modeling, "Attention")
        given = (self.config, layer)[: len(inspect.signature(made).parameters)]
        with torch.device("meta"):
            attention = made(*given)
        scale = next((getattr(attention, name) for name in SCALES if hasattr(attention, name)), None)
        if scale is None:  # left to torch, or a divisor
            return 1.0
        width = next(getattr(attention, name) for name in HEADS if hasattr(attention, name))
        return float(scale) * math.sqrt(width)

    def temperature(self, position: int) -> float:
        """What the query at a position is multiplied by (Ministral 3); 1 for models that have no such function."""
        rule = getattr(self.modeling, "get_llama_4_attn_scale", None)
        if rule is None:
            return 1.0
        block = self.config.rope_parameters
        beta, original = block.get("llama_4_scaling_beta"), block.get("original_max_position_embeddings")
        return float(rule(torch.tensor([[position]]), beta, original).double())


def _modeling(config: Any) -> ModuleType:
    return importlib.import_module(type(config).__module__.replace("configuration_", "modeling_"))


def _named(module: ModuleType, suffix: str) -> Callable[..., Any]:
    """The class of the text model whose name ends so; other stacks of the same file are passed over."""
    found = [
        kind
        for name, kind in inspect.getmembers(module, inspect.isclass)
        if name.endswith(suffix) and kind.__module__ == module.__name__ and "Vision" not in name
    ]
    return min(found, key=lambda kind: ("Text" not in kind.__name__, len(kind.__name__)))


def difference(config: Mapping[str, Any], reading: Reading, noise: float) -> str:
    """How the real classes differ from a reading, in words; empty where they agree, or where both end with an error.

    Looked at: every kind of layer that turns, at the original length, one past it, the longest, and beyond.
    """
    try:
        real = RealRotary(config)
        found = {
            (layer.kind, length): (
                real.at(length, _kind(layer)),
                real.softmax(_kind(layer)),
                real.temperature(length - 1),
            )
            for layer in _turning(reading, real)
            for length in _lengths(layer, real)
        }
    except Exception as error:  # noqa: BLE001  whatever transformers raises there
        return f"the real classes end with {error!r:.200}" if reading.serves else ""
    if not reading.serves:
        return f"only the reading ends: {reading.refusal}{reading.absent}"
    for (kind, length), ((inverse, factor), softmax, warmth) in found.items():
        layer = reading.layer(kind)
        assert layer is not None
        angles = layer.schedule.at(length, length)
        if len(inverse) != len(angles.inverse) or 2 * len(inverse) != layer.rotary_dim + layer.rotary_dim % 2:
            return f"{kind}: {len(inverse)} pairs turn, not {len(angles.inverse)}"
        apart = np.abs(inverse - angles.inverse) / np.where(inverse > 0, inverse, 1.0)
        ours = angles.magnitude, layer.softmax, layer.temperature.at(length - 1) if layer.temperature else 1.0
        if not apart.max() <= noise:
            return f"{kind} at {length}: pair {apart.argmax()} is off by {apart.max():.2g}"
        if not np.allclose(ours, (factor, softmax, warmth), rtol=noise, atol=0):
            return f"{kind} at {length}: {ours}, not {(factor, softmax, warmth)}"
    return ""


def _turning(reading: Reading, real: RealRotary) -> list[LayerReading]:
    """The kinds to look at; where the reading has none, whatever makes the real classes compute."""
    if reading.serves:
        return [layer for layer in reading.layers if layer.rotary_dim]
    kinds = getattr(real.config, "layer_types", None) or [ALL]
    empty = Always(Angles(np.zeros(0)))
    return [LayerReading(str(kind), 2, 2, None, "default", "half", empty) for kind in dict.fromkeys(kinds)]


def _kind(layer: LayerReading) -> str | None:
    return None if layer.kind in (ALL, TURNING) else layer.kind


def _lengths(layer: LayerReading, real: RealRotary) -> list[int]:
    longest = real.config.max_position_embeddings
    if real.config.model_type == "gptj":  # its table ends there
        return [longest]
    original = next((int(item.value) for item in layer.used if item.what == "original length"), longest)
    return [original, original + 1, longest, longest + 1, 2 * longest]
