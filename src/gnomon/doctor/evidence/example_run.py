"""Why a model does not run on the whole example it was given, where that can be told from shapes and index ranges."""

import copy
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.adapters.subject import Subject
from gnomon.doctor.evidence.signature import MASK, POSITIONS, read_signature, spelled_out


@dataclass(frozen=True)
class OutOfRange:
    """An argument whose numbers leave the table that they index."""

    argument: str
    table: str
    largest: int
    smallest: int
    rows: int


@dataclass(frozen=True)
class Uneven:
    """An argument that should have a number for each place of the content, and has more or fewer."""

    argument: str
    length: int
    content: str
    places: int


def failure_of_example(subject: Subject) -> OutOfRange | Uneven | None:
    """The cause, when the example as it was given does not run; None when it runs, or fails for another reason."""
    example = spelled_out(subject.module, subject.example)
    names = read_signature(subject.module, example)
    module = copy.deepcopy(subject.module).eval()
    arguments = dict(example)
    by_place = [arguments.pop(name) for name in names.positional if name in arguments]
    asked: list[OutOfRange] = []
    paths = {part: path for path, part in module.named_modules() if isinstance(part, nn.Embedding)}

    def look(table: nn.Module, args: tuple[Any, ...]) -> None:
        rows = args[0] if args else None
        if isinstance(rows, Tensor) and rows.numel() and not 0 <= int(rows.min()) <= int(rows.max()) < _rows(table):
            largest, smallest = int(rows.max()), int(rows.min())
            argument = next((n for n, v in example.items() if _holds(v, largest, smallest)), "an index")
            asked.append(OutOfRange(argument, paths[table], largest, smallest, _rows(table)))  # type: ignore[index]

    handles = [part.register_forward_pre_hook(look) for part in paths]
    try:
        with torch.no_grad():
            module(*by_place, **arguments)
        return None
    except (Exception, SystemExit):  # noqa: BLE001 - whatever a forward says to its example
        return asked[0] if asked else _uneven(example, names.content)
    finally:
        for handle in handles:
            handle.remove()


def _rows(table: nn.Module) -> int:
    return int(table.num_embeddings)  # type: ignore[arg-type]


def _holds(value: Any, largest: int, smallest: int) -> bool:
    """Whether a tensor of the example holds the number that left the table."""
    if not isinstance(value, Tensor) or value.is_floating_point() or not value.numel():
        return False
    return int(value.max()) == largest or int(value.min()) == smallest < 0


def _uneven(example: dict[str, Any], content: str) -> Uneven | None:
    places = example[content].shape[1]
    for name, value in example.items():
        if name in (*MASK, *POSITIONS, "token_type_ids", "labels") and isinstance(value, Tensor) and value.ndim >= 2:
            length = value.shape[-1]  # ids of several axes are (axes, batch, sequence)
            if length != places:
                return Uneven(name, length, content, places)
    return None
