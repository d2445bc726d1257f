"""What a forward really computes about positions, read off the operations it runs, whatever the code calls them.

A dispatch mode sees each tensor operation below autograd and autocast. Three patterns matter: a rotation
(x cos + turned(x) sin, in halves, interleaved or complex), something added to attention logits, and a table lookup.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from gnomon.adapters.subject import Subject
from gnomon.doctor.evidence.base import evidence
from gnomon.doctor.evidence.calling import Model, model
from gnomon.doctor.evidence.rotations import Rotation, rotation_of_complex, rotation_of_full, rotation_of_halves

BATCH, LENGTH = 2, 29  # a prime that is no usual number of heads: the sequence axis is recognised by its size


@dataclass(frozen=True)
class Bias:
    """What was added to the logits of one attention: (B or 1, H, Q, K) float32, masked entries -inf."""

    where: str
    values: Tensor


@dataclass(frozen=True)
class Lookup:
    """Rows taken from a stored table."""

    where: str
    table: str
    rows: Tensor


@dataclass(frozen=True)
class Trig:
    """Angles that went into a sine or cosine, in the dtype they had."""

    where: str
    operation: str
    angles: Tensor


@dataclass
class Trace:
    """Everything about positions that one forward did, in order."""

    batch: int
    length: int
    rotations: list[Rotation] = field(default_factory=list)
    biases: list[Bias] = field(default_factory=list)
    lookups: list[Lookup] = field(default_factory=list)
    trigs: list[Trig] = field(default_factory=list)
    attentions: int = 0


@evidence
def trace(subject: Subject) -> Trace:
    """The trace of one forward on random content, default positions."""
    probe = model(subject)
    return trace_forward(probe, probe.draw(BATCH, probe.length(LENGTH)))


def trace_forward(probe: Model, content: Tensor, **arguments: Any) -> Trace:
    """Run the model once and read its operations. Content (B, S); keyword arguments as for `Model.__call__`."""
    result = Trace(content.shape[0], content.shape[1])
    with _paths(probe.module) as path, _Watcher(result, path, _names(probe.module)):
        probe(content, **arguments)
    return result


class _Watcher(TorchDispatchMode):
    """Keeps the products it has seen, and asks at each sum whether two of them make a rotation."""

    def __init__(self, result: Trace, path: list[str], names: dict[int, str]) -> None:
        super().__init__()
        self.result, self.path, self.names = result, path, names
        self.products: dict[int, tuple[Tensor, Tensor, Tensor]] = {}
        self.scores: dict[int, Tensor] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        name = func.overloadpacket.__name__
        handler = getattr(self, f"_on_{name}", None)
        if handler is not None:
            handler(out, *args, **(kwargs or {}))
        elif name.startswith("_scaled_dot_product"):
            self._on_attention(args, kwargs or {})
        return out

    @property
    def where(self) -> str:
        return self.path[-1] if self.path else ""

    def _on_mul(self, out: Tensor, a: Any, b: Any, **_: Any) -> None:
        if not (isinstance(a, Tensor) and isinstance(b, Tensor)):
            if id(a) in self.scores:
                self.scores[id(out)] = out
            return
        if out.is_complex():
            self._keep(rotation_of_complex(a, b, self.result.length, self.where))
        elif out.ndim >= 3 and out.is_floating_point():
            self.products[id(out)] = (a, b, out)

    def _on_add(self, out: Tensor, a: Any, b: Any, **_: Any) -> None:
        if not (isinstance(a, Tensor) and isinstance(b, Tensor)):
            return
        first, second = self.products.get(id(a)), self.products.get(id(b))
        if first and second:
            self._keep(rotation_of_full(first[:2], second[:2], self.result.length, self.where))
        elif id(a) in self.scores or id(b) in self.scores:
            self._bias(b if id(a) in self.scores else a, out)
            self.scores[id(out)] = out

    _on_add_ = _on_add

    def _on_sub(self, out: Tensor, a: Any, b: Any, **_: Any) -> None:
        first, second = self.products.get(id(a)), self.products.get(id(b))
        if first and second:
            self._keep(rotation_of_halves(first[:2], second[:2], self.result.length, self.where))

    def _on_addcmul(self, out: Tensor, a: Tensor, b: Tensor, c: Tensor, *, value: float = 1) -> None:
        first = self.products.get(id(a))
        if first and value == -1:
            self._keep(rotation_of_halves(first[:2], (b, c), self.result.length, self.where))
        elif first and value == 1:
            self._keep(rotation_of_full(first[:2], (b, c), self.result.length, self.where))

    _on_addcmul_ = _on_addcmul

    def _on_cos(self, out: Tensor, angles: Tensor) -> None:
        self.result.trigs.append(Trig(self.where, "cos", angles.detach().clone()))

    def _on_sin(self, out: Tensor, angles: Tensor) -> None:
        self.result.trigs.append(Trig(self.where, "sin", angles.detach().clone()))

    def _on_polar(self, out: Tensor, radius: Tensor, angles: Tensor) -> None:
        self.result.trigs.append(Trig(self.where, "polar", angles.detach().clone()))

    def _on_embedding(self, out: Tensor, table: Tensor, rows: Tensor, *_: Any) -> None:
        name = self.names.get(table.data_ptr())
        if name is not None:
            self.result.lookups.append(Lookup(self.where, name, rows.clone()))

    def _on_index(self, out: Tensor, table: Tensor, indices: Any) -> None:
        if len(indices) == 1 and isinstance(indices[0], Tensor) and not indices[0].is_floating_point():
            self._on_embedding(out, table, indices[0])

    def _on_bmm(self, out: Tensor, a: Tensor, b: Tensor) -> None:
        if out.ndim == 3 and out.shape[-2:] == (self.result.length, self.result.length):
            self.scores[id(out)] = out

    def _on_baddbmm(self, out: Tensor, bias: Tensor, a: Tensor, b: Tensor, **_: Any) -> None:
        self._bias(bias, out)
        self.scores[id(out)] = out

    def _on_view(self, out: Tensor, a: Tensor, *_: Any, **__: Any) -> None:
        if id(a) in self.scores:
            self.scores[id(out)] = out

    _on__unsafe_view = _on_view
    _on__to_copy = _on_view
    _on_div = _on_view

    def _on__softmax(self, out: Tensor, *_: Any) -> None:
        self.result.attentions += 1

    def _on_attention(self, args: Any, kwargs: Any) -> None:
        self.result.attentions += 1
        query = args[0]
        mask = kwargs.get("attn_mask", kwargs.get("attn_bias"))
        if mask is None:
            mask = next((a for a in args[3:] if isinstance(a, Tensor)), None)
        if mask is not None and mask.is_floating_point():
            self._bias(mask, query.new_empty(query.shape[0], query.shape[1], mask.shape[-2], mask.shape[-1]))

    def _bias(self, bias: Tensor, scores: Tensor) -> None:
        values = bias.detach().float()
        if values.ndim == 3:  # (B * H, Q, K), as Bloom keeps it, or (H, Q, K) beside (B, H, Q, K), as MPT does
            values = values[None] if scores.ndim == 4 else values.view(self.result.batch, -1, *values.shape[1:])
        if values.ndim == 4 and values.shape[-1] == self.result.length:
            values = values.masked_fill(values < -1e4, -torch.inf)
            self.result.biases.append(Bias(self.where, values.clone()))

    def _keep(self, rotation: Rotation | None) -> None:
        if rotation is not None:
            self.result.rotations.append(rotation)


@contextmanager
def _paths(module: nn.Module) -> Iterator[list[str]]:
    """The dotted path of the module that is running, as a stack that hooks keep."""
    stack: list[str] = []
    handles = []

    def leave(*_: Any) -> None:
        stack.pop()

    for path, part in module.named_modules():
        handles.append(part.register_forward_pre_hook(lambda *_, path=path: stack.append(path)))
        handles.append(part.register_forward_hook(leave, always_call=True))
    try:
        yield stack
    finally:
        for handle in handles:
            handle.remove()


def _names(module: nn.Module) -> dict[int, str]:
    stored = [*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)]
    return {tensor.data_ptr(): name for name, tensor in reversed(stored) if tensor.ndim >= 2 and tensor.numel()}
