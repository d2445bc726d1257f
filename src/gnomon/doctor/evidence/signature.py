"""Which argument of a forward is which, and which part of its result is the output, by the names the field uses."""

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor, nn

from gnomon.adapters.example import forward_signature
from gnomon.adapters.subject import MissingEvidence
from gnomon.doctor.evidence.conventions import MaskForm

#: the decoder's tokens first: outputs stand at their places
DECODER = ("decoder_input_ids", "decoder_inputs_embeds", "tgt", "trg", "tgt_ids")
CONTENT = (
    *DECODER,
    *("input_ids", "ids", "tokens", "token_ids", "idx", "x", "inputs", "input", "inputs_embeds", "hidden_states"),
    *("src", "query", "x_t", "input_tensor", "pixel_values"),
)
MASK = (
    *("attention_mask", "padding_mask", "key_padding_mask", "src_key_padding_mask", "mask"),
    *("pad_mask", "attn_mask", "input_mask", "src_mask"),
)
POSITIONS = ("position_ids", "positions", "input_pos", "pos_ids", "input_positions", "position", "pos")
CACHE = ("cache", "past_key_values")
OUTPUTS = ("logits", "last_hidden_state", "hidden_states")
BY_PLACE = "*"  #: before the number of an argument that only a place tells, as those of forward(*args)


@dataclass(frozen=True)
class Signature:
    """The names a model's forward uses for what the probes need; None: it has no such argument.

    `positional`: the arguments passed without a name, in order. `sequence_first`: content is (S, B, ...), and
    `turned`: outputs alone are (S, B, ...); callers still see (B, S, ...).
    """

    content: str
    mask: str | None
    positions: str | None
    cache: str | None
    use_cache: bool
    mask_form: MaskForm = field(default_factory=MaskForm)
    positional: tuple[str, ...] = ()
    sequence_first: bool = False
    turned: bool = False


def read_signature(module: nn.Module, example: dict[str, Any]) -> Signature:
    """Which argument is which, by the names the field uses; raises MissingEvidence when there is no content.

    The example is one whose arguments are spelled out (`spelled_out`).
    """
    parameters: Mapping[str, inspect.Parameter] = forward_signature(module).parameters
    tensors = [key for key, value in example.items() if isinstance(value, Tensor) and value.ndim >= 2]
    content = next((n for n in CONTENT if n in tensors), tensors[0] if tensors else None)
    if content is None or example[content].ndim > 5:
        shapes = ", ".join(str(tuple(example[name].shape)) for name in tensors) or "none"
        raise MissingEvidence(
            "the example has no token ids (batch, sequence) and no vectors (batch, sequence, width) to vary; "
            f"its tensors have the shapes {shapes}"
        )
    side = "decoder_" if content.startswith("decoder_") else ""

    if content in DECODER:  # the mask of the source is no mask of the decoder's tokens
        parameters = {name: value for name, value in parameters.items() if not name.startswith("src_")}

    def first(names: tuple[str, ...]) -> str | None:
        return next((side + name for name in names if side + name in parameters and side + name != content), None)

    # nn.Transformer wants a second mask for its decoder, which would have to agree.
    mask = None if "memory_key_padding_mask" in parameters else first(MASK)
    cache = next((name for name in CACHE if name in parameters), None)
    positional = tuple(
        n for n in example if n.startswith(BY_PLACE) or (n in parameters and _only_by_place(parameters[n]))
    )
    return Signature(content, mask, first(POSITIONS), cache, "use_cache" in parameters, positional=positional)


def spelled_out(module: nn.Module, example: Mapping[str, Any]) -> dict[str, Any]:
    """The example with what `*args` and `**kwargs` hold as arguments of their own, "*0", "*1" and by name."""
    parameters = forward_signature(module).parameters
    return dict(pair for name, value in example.items() for pair in _spelled(parameters.get(name), name, value))


def _spelled(parameter: inspect.Parameter | None, name: str, value: Any) -> Iterator[tuple[str, Any]]:
    kind = parameter.kind if parameter else inspect.Parameter.POSITIONAL_OR_KEYWORD
    if kind is inspect.Parameter.VAR_POSITIONAL:
        values = value if isinstance(value, tuple | list) else (value,)
        yield from ((f"{BY_PLACE}{i}", part) for i, part in enumerate(values))
    elif kind is inspect.Parameter.VAR_KEYWORD and isinstance(value, Mapping):
        yield from value.items()
    else:
        yield name, value


def _only_by_place(parameter: inspect.Parameter) -> bool:
    return parameter.kind is inspect.Parameter.POSITIONAL_ONLY


def main_output(result: Any) -> Tensor:
    """The tensor (B, S, ...) among what a forward returned: logits, else hidden states, else the first such tensor.

    A loss or another number is taken only where there is nothing else.
    """
    for name in OUTPUTS:
        value = result.get(name) if isinstance(result, Mapping) else getattr(result, name, None)
        if isinstance(value, Tensor):
            return value
    floating = [value for value in _parts(result) if isinstance(value, Tensor) and value.is_floating_point()]
    if not floating:
        raise MissingEvidence(f"forward returned {type(result).__name__} without a float tensor")
    inside = [part for part in _parts(result) if isinstance(part, Mapping) and not any(v.ndim > 2 for v in floating)]
    for part in inside:  # CLIP gives scores of images against texts, and beside them what each tower gave
        if isinstance(hidden := part.get("last_hidden_state"), Tensor):
            return hidden
    return next((value for value in floating if value.ndim >= 2), floating[0])


def _parts(result: Any) -> Iterator[Any]:
    if isinstance(result, Mapping):
        yield from result.values()
    elif isinstance(result, tuple | list):
        yield from result
    elif isinstance(result, Tensor) or not hasattr(result, "__dict__"):
        yield result
    else:
        yield from vars(result).values()
