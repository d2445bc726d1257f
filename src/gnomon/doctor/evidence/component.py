"""A bare position module, outside any model: how it wants to be called, found by trying, and what it gives.

Three kinds are told apart by their numbers: vectors that are added to hidden states, rotations of queries and keys, and
biases on attention logits.
"""

import copy
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import torch
from torch import Tensor, nn

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.base import attempt, evidence
from gnomon.doctor.evidence.trace import trace

BATCH, LENGTH, HEADS = 4, 10, 3
NAMED = re.compile(r"pos|rope|rotary|alibi|bias|sinus|sincos|freq|encoding|(^|_)pe($|_)", re.IGNORECASE)
WIDTHS = (
    "d_model",
    "dim",
    "embed_dim",
    "embedding_dim",
    "channels",
    "org_channels",
    "hidden_size",
    "head_dim",
    "d",
    "width",
)
HEAD_COUNTS = ("num_heads", "n_heads", "heads", "nhead", "n_head")
COUNTS = re.compile(r"len|length|size|^n$|^l$|^t$", re.IGNORECASE)
IDS = re.compile(r"pos|ids|idx|offset", re.IGNORECASE)
WIDEST = 4096

PLACES = -1  # in a shape: the axis of places

Kind = Literal["added", "rotation", "bias"]
Give = Callable[[int, int], tuple[Any, ...]]


@dataclass(frozen=True)
class Component:
    """How the module is called. `give(length, seed)` are arguments for so many places; see `_content` for seeds.

    `kind` says what comes out; `axis` is the dimension of it along which positions run, None where they run along none.
    """

    kind: Kind
    called: str
    module: nn.Module
    fresh: nn.Module  #: a copy that has never run
    give: Give
    axis: int | None = None
    is_flat: bool = False  #: it gives one row for each place, whatever the batch

    def __call__(self, length: int, seed: int = 0) -> Any:
        with torch.no_grad():
            return self.module(*self.give(length, seed))


@evidence
def component(subject: Subject) -> Component:
    """The subject as a bare position module; raises MissingEvidence for a model."""
    module = copy.deepcopy(subject.module).eval()
    seen = attempt(trace, subject)
    if seen is not None and seen.attentions:
        raise MissingEvidence("this is a model, with attention of its own, and no bare position module")
    if type(module) is nn.Embedding:
        raise MissingEvidence("a bare nn.Embedding may hold words as well as positions")
    if not NAMED.search(type(module).__name__) and not _is_bare(module):
        raise MissingEvidence("this is a model, and no bare position module")
    for found in _ways(module):
        return found
    raise MissingEvidence("no way to call this module was found that gives vectors, rotations or biases of positions")


def _is_bare(module: nn.Module) -> bool:
    """Whether it has nothing that mixes features or tokens."""
    return not any(p.ndim >= 2 for part in module.modules() if not isinstance(part, nn.Embedding) for p in _own(part))


def _own(part: nn.Module) -> Iterator[nn.Parameter]:
    return part.parameters(recurse=False)


def _ways(module: nn.Module) -> Iterator[Component]:
    """The calls that run and give something about positions, the likeliest first."""
    fresh = copy.deepcopy(module)
    for called, give in _calls(module):
        try:
            with torch.no_grad():
                found = _told(lambda seed, give=give: module(*give(LENGTH, seed)), give(LENGTH, 1)[0])  # type: ignore[misc]
        except (Exception, SystemExit):  # noqa: BLE001 - whatever a module says to arguments that it does not take
            continue
        if found is not None:
            kind, axis, is_flat = found
            yield Component(kind, called, module, fresh, give, axis, is_flat)


def _calls(module: nn.Module) -> Iterator[tuple[str, Give]]:
    """Arguments by the number and the names of what forward insists on."""
    needed = [p.name for p in inspect.signature(module.forward).parameters.values() if _is_needed(p)]
    if len(needed) == 1:
        yield from _calls_of_one(module, needed[0])
    elif len(needed) == 2:
        if all(COUNTS.search(name) for name in needed):
            yield "forward(queries, keys)", lambda length, _: (length, length)
        for width in _widths(module):
            yield "forward(x, position ids)", partial(_with_ids, (BATCH, PLACES, width))
        for width in _widths(module):
            yield "forward(q, k)", partial(_filled, (2, _heads(module)[0], PLACES, width), 2)
        yield "forward(queries, keys)", lambda length, _: (length, length)


def _calls_of_one(module: nn.Module, name: str) -> Iterator[tuple[str, Give]]:
    if IDS.search(name):
        yield "forward(position ids (B, S))", lambda length, _: (torch.arange(length).expand(BATCH, -1),)
        yield "forward(position ids (S,))", lambda length, _: (torch.arange(length),)
    if COUNTS.search(name):
        yield "forward(length)", lambda length, _: (length,)
    for width in _widths(module):
        yield "forward(x (B, S, W))", partial(_filled, (BATCH, PLACES, width), 1)
        yield "forward(x (S, B, W))", partial(_filled, (PLACES, BATCH, width), 1)
        for heads in _heads(module):
            yield "forward(q (B, H, S, D))", partial(_filled, (2, heads, PLACES, width), 1)
    for heads in _heads(module):
        yield "forward(scores (B, H, S, S))", partial(_filled, (2, heads, PLACES, PLACES), 1)
    yield "forward(length)", lambda length, _: (length,)
    yield "forward(positions (S,))", lambda length, _: (torch.arange(length),)


def _filled(shape: tuple[int, ...], count: int, length: int, seed: int) -> tuple[Any, ...]:
    """So many tensors of this shape, its `PLACES` replaced by the length."""
    sized = tuple(length if n == PLACES else n for n in shape)
    return tuple(_content(sized, seed) for _ in range(count))


def _with_ids(shape: tuple[int, ...], length: int, seed: int) -> tuple[Any, ...]:
    return (*_filled(shape, 1, length, seed), torch.arange(length).expand(shape[0], -1))


def _heads(module: nn.Module) -> list[int]:
    return _numbers(module, HEAD_COUNTS) or [HEADS]


def _is_needed(parameter: inspect.Parameter) -> bool:
    return parameter.default is parameter.empty and parameter.kind in (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
    )


def _content(shape: tuple[int, ...], seed: int) -> Tensor:
    """Zeros for seed 0, random numbers for a seed above it, and for -1 - n the unit vector n at every place."""
    if seed > 0:
        return torch.randn(shape, generator=torch.Generator().manual_seed(seed))
    content = torch.zeros(shape)
    if seed:
        content[..., -1 - seed] = 1
    return content


def _numbers(module: nn.Module, names: tuple[str, ...]) -> list[int]:
    values = (getattr(part, name, None) for part in module.modules() for name in names)
    return list(dict.fromkeys(v for v in values if isinstance(v, int) and 0 < v <= WIDEST))


def _widths(module: nn.Module) -> list[int]:
    """Widths that attributes state, then those of its tensors, and twice as many (frequencies of pairs)."""
    tensors = [*module.parameters(), *module.buffers(), *(v for v in vars(module).values() if isinstance(v, Tensor))]
    last = [t.shape[-1] for t in tensors if t.ndim and 1 < t.shape[-1] <= WIDEST]
    return list(dict.fromkeys([*_numbers(module, WIDTHS), *last, *(2 * n for n in last)]))


def _told(run: Callable[[int], Any], content: Any) -> tuple[Kind, int | None, bool] | None:
    """The kind of what comes out, and the axis that positions run along."""
    out = run(0)
    first, *rest = (t for t in (out if isinstance(out, tuple | list) else (out,)) if isinstance(t, Tensor))
    if not first.is_floating_point() or LENGTH not in first.shape:
        return None
    axis = _axis(first)
    if axis is not None and first.shape[axis] != LENGTH:
        return None  # positions run along the batch: another call has it for the sequence
    if len(rest) == 1 and first.shape == rest[0].shape and _is_one(first.square() + rest[0].square()):
        return "rotation", axis, True
    if _is_angles(first):
        return "rotation", axis, True
    if first.ndim >= 3 and first.shape[-2:] == (LENGTH, LENGTH):
        return "bias", None, True
    other = first_of(run(1))
    if isinstance(content, Tensor) and first.shape == content.shape and not first.any() and other.any():
        turned = _is_one(other.norm(dim=-1) / content.norm(dim=-1)) and not torch.equal(other, content)
        ones = sum((first_of(run(-1 - lane)) for lane in range(content.shape[-1])), torch.zeros(()))
        same = torch.equal(other, content)
        return ("rotation", _axis(ones), False) if turned else ("added", None, False) if same else None
    return ("added", axis, first.ndim == 2) if first.ndim <= 3 else None


def first_of(out: Any) -> Tensor:
    """The one tensor that a module gives, or the first of several."""
    tensor: Tensor = out[0] if isinstance(out, tuple | list) else out
    return tensor


def _is_one(values: Tensor) -> bool:
    return bool(((values - 1).abs() < 1e-2).all())


def _is_angles(values: Tensor) -> bool:
    """Whether rows are 0, 1, 2, ... times the second one: angles whose sine and cosine are still to be taken."""
    rows = values.reshape(-1, values.shape[-1])[:LENGTH] if values.shape[-2] == LENGTH else None
    if rows is None or not rows[1].any():
        return False
    return bool(((rows - torch.arange(LENGTH)[:, None] * rows[1]).abs() < 1e-4 * rows.abs().max()).all())


def _axis(out: Tensor) -> int | None:
    """The axis, but the last, along which vectors differ; None where they differ along none or several."""
    near = 1e-6 * float(out.abs().max())
    moves = [axis for axis in range(out.ndim - 1) if float((out - out.narrow(axis, 0, 1)).abs().max()) > near]
    return moves[0] if len(moves) == 1 else None
