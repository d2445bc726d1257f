"""The dispatch mode that reads rotations, lookups and angles off the tensor operations of a forward.

Tensors are known by identity. Each one that is asked for later is kept in a dictionary, so that no identity is used
again while the watcher lives.
"""

from dataclasses import replace
from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from gnomon.doctor.evidence.record import Lookup, Trace, Trig
from gnomon.doctor.evidence.rotations import (
    Layout,
    Product,
    Rotation,
    layout_of_views,
    rotation_of_complex,
    rotation_of_full,
    rotation_of_halves,
)

FUSED = ("_scaled_dot_product", "_transformer_encoder_layer_fwd", "_native_multi_head_attention")
#: operations whose result is the same numbers, or some of them: as old as what they are made from
SAME_NUMBERS = frozenset(
    (
        *("view", "_unsafe_view", "_to_copy", "transpose", "permute", "t", "unsqueeze", "squeeze", "expand", "clone"),
        *("alias", "detach", "slice", "select", "split", "split_with_sizes", "unbind"),
    )
)


def attends(operation: str) -> bool:
    """Whether an operation of this name is an attention: a softmax, or a fused kernel."""
    return operation in ("_softmax", "_safe_softmax") or operation.startswith(FUSED)


class Watcher(TorchDispatchMode):
    """Keeps the products it has seen, and asks at each sum whether two of them make a rotation."""

    def __init__(self, result: Trace, path: list[str], names: dict[int, str]) -> None:
        super().__init__()
        self.result, self.path, self.names = result, path, names
        self.products: dict[int, tuple[Tensor, Tensor, Tensor]] = {}
        self.negated: dict[int, tuple[Tensor, Tensor]] = {}
        self.joined: dict[int, tuple[Tensor, Layout]] = {}
        self.ages: dict[int, int] = {}
        self.clock = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        name = func.overloadpacket.__name__
        self._date(name, out, args)
        if attends(name):
            self.result.attentions += 1
        handler = getattr(self, f"_on_{name}", None)
        if handler is not None:
            handler(out, *args, **(kwargs or {}))
        return out

    @property
    def where(self) -> str:
        return self.path[-1] if self.path else ""

    def _date(self, name: str, out: Any, args: Any) -> None:
        """Note when the result was made: a vector is older than the same vector turned by a quarter."""
        self.clock += 1
        age = self.ages.get(id(args[0]), 0) if name in SAME_NUMBERS and args else self.clock
        for tensor in out if isinstance(out, tuple | list) else (out,):
            if not name.endswith("_"):
                self.ages[id(tensor)] = age

    def _older_first(self, first: Product, second: Product) -> bool:
        return self.ages.get(id(first[0]), 0) < self.ages.get(id(second[0]), 0)

    # Rotations

    def _on_mul(self, out: Tensor, a: Any, b: Any, **_: Any) -> None:
        if not (isinstance(a, Tensor) and isinstance(b, Tensor)):
            return
        if out.is_complex():
            layouts = [self.joined[id(t)][1] for t in (a, b) if id(t) in self.joined]
            layout = layouts[0] if layouts else "interleaved"
            self._keep(rotation_of_complex(a, b, self.result.length, self.where, layout))
        elif out.ndim >= 3 and out.is_floating_point():
            self.products[id(out)] = (a, b, out)

    def _on_neg(self, out: Tensor, a: Tensor) -> None:
        self.negated[id(out)] = (out, a)

    def _on_complex(self, out: Tensor, real: Tensor, imaginary: Tensor) -> None:
        layout = layout_of_views(real, imaginary)
        if layout is not None:
            self.joined[id(out)] = (out, layout)

    def _on_add(self, out: Tensor, a: Any, b: Any, **_: Any) -> None:
        if not (isinstance(a, Tensor) and isinstance(b, Tensor)):
            return
        first, second = self.products.get(id(a)), self.products.get(id(b))
        if first and second:
            self._keep(self._sum(first[:2], second[:2]))

    _on_add_ = _on_add

    def _sum(self, first: Product, second: Product) -> Rotation | None:
        """x cos + turned(x) sin, or a cos + (-b) sin."""
        length, where = self.result.length, self.where
        found = rotation_of_full(first, second, length, where, self._older_first)
        for one, other in ((first, second), (second, first)):
            for i in (0, 1):
                if found is None and id(other[i]) in self.negated:
                    whole = (self.negated[id(other[i])][1], other[1 - i])
                    found = rotation_of_halves(one, whole, length, where)
        return found

    def _difference(self, first: Product, second: Product) -> Rotation | None:
        """a cos - b sin, or x cos - turned(x) sin: a rotation backwards."""
        found = rotation_of_halves(first, second, self.result.length, self.where)
        if found is None:
            whole = rotation_of_full(first, second, self.result.length, self.where, self._older_first)
            found = whole and replace(whole, direction=-whole.direction)
        return found

    def _on_sub(self, out: Tensor, a: Any, b: Any, **_: Any) -> None:
        first, second = self.products.get(id(a)), self.products.get(id(b))
        if first and second:
            self._keep(self._difference(first[:2], second[:2]))

    _on_sub_ = _on_sub

    def _on_addcmul(self, out: Tensor, a: Tensor, b: Tensor, c: Tensor, *, value: float = 1) -> None:
        first = self.products.get(id(a))
        if first and value == -1:
            self._keep(self._difference(first[:2], (b, c)))
        elif first and value == 1:
            self._keep(self._sum(first[:2], (b, c)))

    _on_addcmul_ = _on_addcmul

    def _keep(self, rotation: Rotation | None) -> None:
        if rotation is not None:
            self.result.rotations.append(rotation)

    # Angles and lookups

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
