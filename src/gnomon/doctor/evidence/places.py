"""The positions that a forward really used, whatever its code calls them: rows of tables and angles of rotations.

Each operation that takes rows of a table, or the cosine of angles, is a candidate. Those that say 0, 1, 2, ... (from
any start) in one pass over a whole sequence are positions; what the same operations do in later calls is read off.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, final

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

Key = tuple[str, int]
RESERVED = 4  # rows at most that a table keeps before that of position 0 (RoBERTa and OPT: 2)


@final
@dataclass(frozen=True)
class Source:
    """An operation that says positions: `start` is what it says of the first token, `column` the angle that is read."""

    key: Key
    start: float
    column: int = 0
    frequency: float = 1.0
    rows: int | None = None  #: how many the table has; None for angles that are computed

    def read(self, values: Tensor) -> list[int]:
        """Positions from (N,) rows or (N, pairs) angles."""
        numbers = values[:, self.column] / self.frequency
        return [round(float(v) - self.start) for v in numbers]


class _Recorder(TorchDispatchMode):
    """Keeps (B or 1, N, columns) float64 numbers for each candidate operation of one call."""

    def __init__(self, tables: Mapping[int, int]) -> None:
        super().__init__()
        self.seen: dict[Key, Tensor] = {}
        self.sizes: dict[Key, int] = {}
        self.tables = tables  #: number of each stored table, by the address of its data
        self.trigs = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.__name__.split(".")[0]
        if name in ("cos", "sin", "polar"):
            angles = args[1] if name == "polar" else args[0]
            self._keep((name, self.trigs), angles.detach())
            self.trigs += 1
        elif name in ("embedding", "index_select", "index", "slice"):
            self._rows(name, args)
        return func(*args, **(kwargs or {}))

    def _rows(self, name: str, args: Any) -> None:
        table = self.tables.get(args[0].data_ptr()) if isinstance(args[0], Tensor) else None
        if table is None or args[0].ndim < 2:
            return
        axis = 0
        if name == "slice":
            axis, start, end = (*args[1:], 0, 0, None)[:3]
            size = args[0].shape[axis]
            first, last = start or 0, size if end is None else min(end, size)
            rows: Any = torch.arange(first, max(first, last)) if first >= 0 else None
        else:
            given = args[1] if name == "embedding" else args[2] if name == "index_select" else args[1][0]
            rows = given if isinstance(given, Tensor) and not given.is_floating_point() else None
            rows = None if rows is None or rows.dtype == torch.bool else rows
        if rows is not None:
            self.sizes[name, table] = args[0].shape[axis]
            self._keep((name, table), rows.detach()[..., None])

    def _keep(self, key: Key, values: Tensor) -> None:
        if values.ndim >= 2 and values.numel():
            self.seen.setdefault(key, values.reshape(-1, *values.shape[-2:]).double().clone())


def _tables(module: torch.nn.Module) -> dict[int, int]:
    stored = (*module.parameters(), *module.buffers())
    return {t.data_ptr(): i for i, t in enumerate(stored) if t.ndim >= 2 and t.numel()}


@final
class Seen(dict[Key, Tensor]):
    """What each candidate operation of one call said: key -> (rows, N, columns). `sizes`: rows of the tables."""

    sizes: Mapping[Key, int] = {}


def watched(module: torch.nn.Module, call: Callable[[], Any]) -> Seen:
    """What each candidate operation of one call said."""
    with _Recorder(_tables(module)) as recorder:
        call()
    seen = Seen(recorder.seen)
    seen.sizes = recorder.sizes
    return seen


def sources(seen: Seen, length: int) -> list[Source]:
    """The operations of one pass over `length` tokens that said consecutive positions."""
    found = []
    for key, values in seen.items():
        if values.shape[1] != length or length < 3:
            continue
        steps = values[0].diff(dim=0)
        column = int(steps[0].abs().argmax())
        frequency = float(steps[0, column])
        even = bool(((steps[:, column] - frequency).abs() < 1e-3 * max(abs(frequency), 1e-9)).all())
        if even and frequency and (key[0] in ("cos", "sin", "polar") or frequency == 1.0):
            start = float(values[0, 0, column]) / frequency
            reserved = start if abs(start) <= RESERVED else 0.0
            found.append(Source(key, reserved, column, frequency, seen.sizes.get(key)))
    return found


def positions_said(seen: Mapping[Key, Tensor], found: list[Source], new: int) -> list[list[int]]:
    """The positions of `new` tokens by each source that spoke in this call, each list once."""
    said = [source.read(seen[source.key][0]) for source in found if source.key in seen]
    return [list(one) for one in dict.fromkeys(tuple(one) for one in said if len(one) == new)]
