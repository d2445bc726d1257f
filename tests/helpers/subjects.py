"""Subjects made of a few tensors and a config, without files or models."""

from collections.abc import Mapping
from typing import Any, final

import torch
from torch import Tensor

from gnomon.adapters.claims import Claim
from gnomon.adapters.subject import Subject
from gnomon.adapters.tensors import TensorInfo, TensorSource
from gnomon.report.document import CheckResult


@final
class DictTensors(TensorSource):
    """Tensors from a dict; `flags` are the fields of every TensorInfo that say where they come from."""

    def __init__(self, tensors: Mapping[str, Tensor], **flags: Any) -> None:
        self._tensors = dict(tensors)
        self._flags = flags

    def infos(self) -> tuple[TensorInfo, ...]:
        return tuple(
            TensorInfo(name, tuple(tensor.shape), str(tensor.dtype).removeprefix("torch."), **self._flags)
            for name, tensor in self._tensors.items()
        )

    def load(self, name: str) -> Tensor:
        return self._tensors[name]


def holding(tensors: Mapping[str, Tensor], **evidence: Any) -> Subject:
    """A subject that holds these tensors, as read from a file."""
    return Subject("tensors", tensors=DictTensors(tensors), **evidence)


def claim(kind: str, table: str | None = None, **options: Any) -> Claim:
    """A claim about a tensor of this exact name."""
    return Claim(kind, "embeddings", options, {}, (rf"^{table}$",) if table else ())


def rotary_claim(head_dim: int, *, base: float = 10_000.0, kind: str = "plain", **options: Any) -> Claim:
    frequencies = {"kind": kind, "base": base, **options}
    return Claim("rotary", "layers.*.attention", {"head_dim": head_dim, "frequencies": frequencies})


def noise(rows: int, dims: int, std: float = 0.02, seed: int = 0) -> Tensor:
    return torch.randn(rows, dims, generator=torch.Generator().manual_seed(seed)) * std


def value(result: CheckResult, name: str) -> Any:
    """The number that a check measured under this name."""
    return {measured.name: measured.value for measured in result.measured}[name]
