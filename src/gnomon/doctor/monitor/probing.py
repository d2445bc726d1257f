"""A forward beside training that leaves nothing behind: no gradient, no random draw, no state, no mode."""

import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.doctor.evidence.arguments import LABELS
from gnomon.doctor.evidence.signature import CONTENT, MASK, POSITIONS

SMALL = 1_000_000  # numbers of a buffer that is copied; larger ones are masks and the like, which no forward writes


@dataclass(frozen=True)
class Call:
    """Arguments of one forward by name. Each is as the training loop passed it, or cut to a few rows."""

    arguments: Mapping[str, Any]

    def first(self, names: tuple[str, ...], *, dims: int) -> Tensor | None:
        """The tensor with `dims` axes under the first of these names."""
        found = (self.arguments.get(name) for name in names)
        return next((v for v in found if isinstance(v, Tensor) and v.ndim == dims), None)

    @property
    def content(self) -> Tensor | None:
        """Token ids (B, S)."""
        ids = self.first(CONTENT, dims=2)
        if ids is None:
            ids = next((v for v in self.arguments.values() if isinstance(v, Tensor) and v.ndim == 2), None)
        return None if ids is None or ids.is_floating_point() else ids

    @property
    def labels(self) -> Tensor | None:
        return self.first(LABELS, dims=2)

    @property
    def mask(self) -> Tensor | None:
        return self.first(MASK, dims=2)

    @property
    def positions(self) -> Tensor | None:
        ids = self.first(POSITIONS, dims=2)
        return self.first(POSITIONS, dims=1) if ids is None else ids

    def cut(self, tokens: int) -> "Call":
        """The first rows that hold about `tokens` tokens together, and at most so many of each row."""
        content = self.content
        if content is None:
            return self
        batch, length = content.shape
        short = min(length, tokens)
        rows = max(1, min(batch, tokens // max(short, 1)))

        def part(value: Any) -> Any:
            if not isinstance(value, Tensor) or value.ndim == 0:
                return value
            value = value[:rows] if value.shape[0] == batch else value
            along = [i for i in range(1, value.ndim) if value.shape[i] == length] if short < length else []
            for axis in along:
                value = value.narrow(axis, 0, short)
            return value.detach()

        return Call({name: part(value) for name, value in self.arguments.items()})


def bound(model: nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Call:
    """The arguments of a call by the names of the forward; of what it does not take, only labels are kept."""
    parameters = list(inspect.signature(model.forward).parameters.values())
    named = dict(zip((p.name for p in parameters), args, strict=False)) | dict(kwargs)
    takes_all = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)
    known = {*(p.name for p in parameters), *LABELS}
    return Call({name: value for name, value in named.items() if takes_all or name in known})


def call_of(model: nn.Module, batch: Any) -> Call:
    """The call that a batch of a data loader makes: a mapping, one tensor, or a pair of inputs and targets."""
    if isinstance(batch, Mapping):
        return bound(model, (), dict(batch))
    args = (batch,) if isinstance(batch, Tensor) else tuple(batch)
    call = bound(model, args[:1], {})
    targets = next((v for v in args[1:2] if isinstance(v, Tensor) and v.ndim == 2), None)
    return call if targets is None else Call({**call.arguments, "labels": targets})


@contextmanager
def untouched(model: nn.Module) -> Iterator[None]:
    """Run in eval mode without gradients and uncompiled; modes, attributes, buffers and generators are put back."""
    device = next((p.device for p in model.parameters()), torch.device("cpu"))
    parts = [(part, part.training, dict(vars(part)), dict(part._buffers)) for part in model.modules()]
    copies = [(b, b.clone()) for _, _, _, held in parts for b in held.values() if b is not None and b.numel() <= SMALL]
    cuda = [device] if device.type == "cuda" else []
    try:
        with torch.random.fork_rng(devices=cuda), torch.no_grad(), torch.compiler.set_stance("force_eager"):
            model.eval()
            yield
    finally:
        with torch.no_grad():
            for buffer, copy in copies:
                if not torch.equal(buffer, copy):
                    buffer.copy_(copy)
        for part, training, attributes, buffers in parts:
            vars(part).clear()
            vars(part).update(attributes)
            part._buffers.clear()
            part._buffers.update(buffers)
            part.training = training


def forward(model: nn.Module, call: Call) -> Any:
    """The forward on a call; labels that it does not take stay out."""
    takes = inspect.signature(model.forward).parameters
    takes_all = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in takes.values())
    given = {n: v for n, v in call.arguments.items() if n in takes or (takes_all and n not in LABELS)}
    if "use_cache" in takes:
        given.setdefault("use_cache", False)
    return model(**given)
