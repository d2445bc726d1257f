"""Which argument of a forward is which, and which part of its result is the output, by the names the field uses."""

import inspect
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor, nn

from gnomon.adapters.subject import MissingEvidence
from gnomon.doctor.evidence.conventions import MaskForm

CONTENT = ("input_ids", "ids", "tokens", "token_ids", "idx", "x", "inputs", "input", "inputs_embeds", "hidden_states")
MASK = ("attention_mask", "padding_mask", "key_padding_mask", "src_key_padding_mask", "mask")
POSITIONS = ("position_ids", "positions", "input_pos")
CACHE = ("cache", "past_key_values")
OUTPUTS = ("logits", "last_hidden_state", "hidden_states")


@dataclass(frozen=True)
class Signature:
    """The names a model's forward uses for what the probes need; None: it has no such argument."""

    content: str
    mask: str | None
    positions: str | None
    cache: str | None
    use_cache: bool
    mask_form: MaskForm = field(default_factory=MaskForm)


def read_signature(module: nn.Module, example: dict[str, Any]) -> Signature:
    """Which argument is which, by the names the field uses; raises MissingEvidence when there is no content."""
    parameters = list(inspect.signature(module.forward).parameters)
    tensors = [key for key, value in example.items() if isinstance(value, Tensor) and value.ndim >= 2]
    content = next((n for n in CONTENT if n in tensors), tensors[0] if tensors else None)
    if content is None or example[content].ndim > 3:
        shapes = ", ".join(str(tuple(example[name].shape)) for name in tensors) or "none"
        raise MissingEvidence(
            "the example has no token ids (batch, sequence) and no vectors (batch, sequence, width) to vary; "
            f"its tensors have the shapes {shapes}"
        )

    def first(names: tuple[str, ...]) -> str | None:
        return next((name for name in names if name in parameters and name != content), None)

    # nn.Transformer wants a second mask for its decoder, which would have to agree.
    mask = None if "memory_key_padding_mask" in parameters else first(MASK)
    return Signature(content, mask, first(POSITIONS), first(CACHE), "use_cache" in parameters)


def main_output(result: Any) -> Tensor:
    """The tensor (B, S, ...) among what a forward returned: logits, else hidden states, else the first tensor."""
    for name in OUTPUTS:
        value = getattr(result, name, None)
        if isinstance(value, Tensor):
            return value
    candidates = (
        result.values() if isinstance(result, dict) else result if isinstance(result, tuple | list) else [result]
    )
    for value in candidates:
        if isinstance(value, Tensor) and value.is_floating_point():
            return value
    raise MissingEvidence(f"forward returned {type(result).__name__} without a float tensor")
