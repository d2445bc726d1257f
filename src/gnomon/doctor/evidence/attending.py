"""Every attention of a forward as it counts: the queries and keys that meet, and the logits the softmax is given."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - torch's own name for it
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from gnomon.doctor.evidence.paths import running_path

MASKED = -5_000.0  #: a logit below it is masked: GPT-2's old mask is -10,000, others are the dtype's least number


@dataclass(frozen=True)
class AttentionCall:
    """One attention: query (N, Q, D), key (N, K, D), logits (N, Q, K) float64 with -inf where masked.

    N is batch times heads (and windows), the batch outermost. `scale` is what a fused kernel multiplies q k by, None
    where the attention is written out.
    """

    where: str
    query: Tensor
    key: Tensor
    logits: Tensor
    scale: float | None = None

    @property
    def products(self) -> Tensor:
        """q k before anything is done to it: (N, Q, K)."""
        return self.query @ self.key.mT


@dataclass
class _Products:
    """The matrix products of one module since its last softmax."""

    pairs: list[tuple[Tensor, Tensor]] = field(default_factory=list)


class Attendant(TorchDispatchMode):
    """Keeps queries, keys and logits of each attention that runs under it; works under autograd and autocast."""

    def __init__(self, path: list[str], rows: int) -> None:
        super().__init__()
        self.path, self.rows, self.calls = path, rows, list[AttentionCall]()
        self.open: dict[str, _Products] = {}
        self.told = False  #: the fused call that runs now has been kept: its parts are not looked at

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        if self.told:
            pass
        elif name in ("bmm", "baddbmm"):
            a, b = args[-2:]
            if a.ndim == 3 and a.is_floating_point():
                self.open.setdefault(self.where, _Products()).pairs.append((a, b.mT))
        elif name in ("_softmax", "_safe_softmax"):
            self._on_softmax(args[0])
        elif name.startswith("_scaled_dot_product"):
            names = [argument.name for argument in func._schema.arguments]
            self.on_fused(dict(zip(names, args, strict=False)) | (kwargs or {}))
        return func(*args, **(kwargs or {}))

    @property
    def where(self) -> str:
        return self.path[-1] if self.path else ""

    def _on_softmax(self, logits: Tensor) -> None:
        """The product since the last softmax in which content meets content: others hold vectors of distances."""
        seen = self.open.pop(self.where, _Products())
        if logits.ndim < 2:
            return
        flat = logits.detach().double().reshape(-1, *logits.shape[-2:])
        pairs = [(q, k) for q, k in seen.pairs if (q.shape[0], q.shape[1], k.shape[1]) == flat.shape]
        if pairs:
            query, key = next((pair for pair in pairs if all(map(self._differs, pair))), pairs[0])
            self._keep(query, key, flat, None)

    def _differs(self, side: Tensor) -> bool:
        """Whether (N, S, D) is another for another row of the batch."""
        if self.rows < 2 or side.shape[0] % self.rows:
            return True
        first, *_, last = side.unflatten(0, (self.rows, -1)).unbind()
        return not torch.equal(first, last)

    def on_fused(self, given: dict[str, Any]) -> bool:
        """Keep a call of a fused attention; False where it is of a form not known here."""
        query, key = given["query"], given["key"]
        if query.ndim != 4 or key.ndim != 4:
            return False
        key = key.repeat_interleave(query.shape[1] // key.shape[1], dim=1)
        scale = given.get("scale") or query.shape[-1] ** -0.5
        logits = (query.double() @ key.double().mT) * scale
        mask = given.get("attn_mask", given.get("attn_bias"))
        if mask is not None:
            logits = logits + mask.double()
        if given.get("is_causal"):
            future = torch.ones(logits.shape[-2:], dtype=torch.bool, device=logits.device).triu(1)
            logits = logits.masked_fill(future, -torch.inf)
        self._keep(query.flatten(0, 1), key.flatten(0, 1), logits.flatten(0, 1), scale)
        return True

    def _keep(self, query: Tensor, key: Tensor, logits: Tensor, scale: float | None) -> None:
        logits = logits.masked_fill(logits <= MASKED, -torch.inf)
        self.calls.append(
            AttentionCall(self.where, query.detach().double(), key.detach().double(), logits.detach(), scale)
        )


class _Fused(TorchFunctionMode):
    """Sees torch's attention as it is called: where no kernel fits, operations that scale both sides replace it."""

    def __init__(self, attendant: Attendant) -> None:
        super().__init__()
        self.attendant = attendant

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is not F.scaled_dot_product_attention or self.attendant.told:
            return func(*args, **(kwargs or {}))
        given = dict(zip(("query", "key", "value", "attn_mask", "dropout_p", "is_causal"), args, strict=False))
        given |= kwargs or {}
        if isinstance(mask := given.get("attn_mask"), Tensor) and mask.dtype == torch.bool:
            given["attn_mask"] = torch.zeros(mask.shape, device=mask.device).masked_fill(~mask, -torch.inf)
        self.attendant.told = self.attendant.on_fused(given)
        try:
            return func(*args, **(kwargs or {}))
        finally:
            self.attendant.told = False


@contextmanager
def _unfused() -> Iterator[None]:
    """torch's fused encoder layer hides its queries and keys; its plain path gives the same numbers."""
    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(before)


class Runs(Protocol):
    """A model that runs on content: `Model`, or one of its backends."""

    @property
    def module(self) -> nn.Module: ...

    def __call__(self, content: Tensor, /, *, mask: Tensor | None = None) -> Tensor: ...


def attention_calls(run: Runs, content: Tensor, mask: Tensor | None = None) -> tuple[AttentionCall, ...]:
    """Run the model once on content (B, S, ...), and keep its attentions in the order of the run."""
    with _unfused(), running_path(run.module) as path, Attendant(path, len(content)) as attendant, _Fused(attendant):
        run(content, mask=mask)
    return tuple(attendant.calls)
