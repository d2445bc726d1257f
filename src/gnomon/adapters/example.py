"""Draws forward arguments for a model that came without an example: token ids and signals from a fixed generator."""

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.adapters.signals import BATCH, SIGNALS, draw_grid, draw_signal
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.errors import UnsupportedTargetError

LENGTH, REGIONS, SEED = 12, 5, 0


def draw_example(module: nn.Module, *, limit: int | None = None) -> dict[str, Any]:
    """What forward takes, drawn at random: token ids, or images and sounds of the shape that the config states.

    Ids for the first nn.Embedding are (2, 12) or as long as `limit` allows; ids of padding are not drawn. A model of
    text and images gets both, unless special tokens mark the places of images: then it gets text alone. Raises
    MissingEvidence for a model that takes anything else.
    """
    generator = torch.Generator().manual_seed(SEED)
    length = LENGTH if limit is None else max(1, min(LENGTH, limit))
    main, config = getattr(module, "main_input_name", None), getattr(module, "config", None)
    parameters = forward_signature(module).parameters
    if {"hidden_states", "grid_thw"} <= parameters.keys():
        example = draw_grid(config, generator)
    elif main in SIGNALS:
        example = {main: draw_signal(main, config, generator)}
    elif main not in (None, "input_ids"):
        raise MissingEvidence(f"no example: the model takes {main}, which gnomon does not draw; pass (module, example)")
    else:
        example = {_first_argument(module): _token_ids(module, length, generator)}
        example |= _beside_tokens(parameters, config, length, generator)
    if "decoder_input_ids" in parameters:
        example["decoder_input_ids"] = _token_ids(module, max(1, length - 3), generator)
    place = next(module.parameters(), torch.empty(0))
    return {n: v.to(place.device, place.dtype if v.is_floating_point() else v.dtype) for n, v in example.items()}


def _beside_tokens(
    parameters: Mapping[str, Any], config: Any, length: int, generator: torch.Generator
) -> dict[str, Tensor]:
    """Boxes of a page, images, and features of regions, for models of text that take them too."""
    beside = {}
    if "bbox" in parameters:
        largest = getattr(config, "max_2d_position_embeddings", 1000)
        corners = torch.randint(0, largest // 2, (BATCH, length, 2), generator=generator)
        beside["bbox"] = torch.cat((corners, corners + torch.tensor([3, 2])), dim=-1)
    marked = any(hasattr(config, key) for key in ("image_token_id", "image_token_index"))
    if "pixel_values" in parameters and not marked:
        beside["pixel_values"] = draw_signal("pixel_values", config, generator)
    for name, key in (("visual_feats", "visual_feat_dim"), ("visual_pos", "visual_pos_dim")):
        if name in parameters and isinstance(width := getattr(config, key, None), int):
            beside[name] = torch.rand(BATCH, REGIONS, width, generator=generator)
    return beside


def bind_example(module: nn.Module, example: Any) -> dict[str, Any]:
    """The user's example as forward arguments by name: a mapping, a tuple of positional arguments, or one tensor."""
    if isinstance(example, Mapping):
        return dict(example)
    values = (example,) if isinstance(example, Tensor) else example
    if not isinstance(values, Sequence) or isinstance(values, str):
        given = type(example).__name__
        raise UnsupportedTargetError(f"An example is a tuple or a dict of forward arguments, got a {given}.")
    try:
        bound = forward_signature(module).bind(*values)
    except (TypeError, MissingEvidence) as error:
        raise UnsupportedTargetError(f"The example does not fit {type(module).__name__}.forward: {error}.") from None
    return dict(bound.arguments)


def forward_signature(module: nn.Module) -> inspect.Signature:
    """The arguments of forward; raises MissingEvidence for one that says nothing of them, as TorchScript's."""
    try:
        return inspect.signature(module.forward)
    except (TypeError, ValueError, AttributeError):
        name = type(module).__name__
        raise MissingEvidence(
            f"the forward of this {name} has no readable signature; give the Python module it was made of"
        ) from None


def example_for(subject: Subject, given: Mapping[str, Any] | None, device: torch.device) -> dict[str, Any]:
    """The given arguments on `device`, or ids drawn for the subject's module within the length its claims allow."""
    if given is not None:
        return {name: value.to(device) if isinstance(value, Tensor) else value for name, value in given.items()}
    module = subject.module
    return draw_example(module, limit=_length_limit(subject))


def _length_limit(subject: Subject) -> int | None:
    claims = _or_nothing(subject, "claims") or ()
    lengths = [claim.options.get("max_length") for claim in claims]
    lengths.append((_or_nothing(subject, "config") or {}).get("max_position_embeddings"))
    return min((n for n in lengths if isinstance(n, int) and n > 0), default=None)


def _or_nothing(subject: Subject, name: str) -> Any:
    try:
        return subject.get(name)
    except MissingEvidence:
        return None


def _token_ids(module: nn.Module, length: int, generator: torch.Generator) -> Tensor:
    table = _token_table(module)
    config = getattr(module, "config", None)
    skipped = {table.padding_idx, getattr(config, "pad_token_id", None)}
    allowed = [i for i in range(min(table.num_embeddings, 10_000)) if i not in skipped] or [0]
    drawn = torch.randint(0, len(allowed), (BATCH, length), generator=generator)
    return torch.tensor(allowed)[drawn]


def _token_table(module: nn.Module) -> nn.Embedding:
    getter = getattr(module, "get_input_embeddings", None)
    try:
        given = getter() if callable(getter) else None
    except NotImplementedError:  # a model of several towers has no one table
        given = None
    tables = (part for part in (given, *module.modules()) if isinstance(part, nn.Embedding))
    table = next(tables, None)
    if table is None:
        raise MissingEvidence("no example: the model has no nn.Embedding to draw token ids for; pass (module, example)")
    return table


def _first_argument(module: nn.Module) -> str:
    names = list(forward_signature(module).parameters)
    if not names:
        raise MissingEvidence(f"no example: {type(module).__name__}.forward takes no arguments")
    return "input_ids" if "input_ids" in names else names[0]
