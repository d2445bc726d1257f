"""Tensors by name, loaded one at a time: a checkpoint is never read whole for a table of positions."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from torch import Tensor


@dataclass(frozen=True)
class TensorInfo:
    """What a header says about a tensor, without its values."""

    name: str
    shape: tuple[int, ...]
    dtype: str  #: "float32", "bfloat16", "int64", or a GGUF type such as "Q4_1"
    role: Literal["parameter", "buffer", "unknown"] = "unknown"
    persistent: bool = True  #: in the state dict
    trainable: bool = False
    owner: str = ""  #: the class of the module that holds it, where one does
    padding_row: int | None = None  #: the row that an nn.Embedding keeps without gradient


class TensorSource(ABC):
    """A mapping from names to tensors that reads values only when asked."""

    @abstractmethod
    def infos(self) -> tuple[TensorInfo, ...]:
        """Every tensor, from the header alone."""

    @abstractmethod
    def load(self, name: str) -> Tensor:
        """The values of one tensor on the CPU, in the dtype they are stored in (GGUF blocks as float32)."""

    def info(self, name: str) -> TensorInfo:
        for item in self.infos():
            if item.name == name:
                return item
        raise KeyError(name)

    def __iter__(self) -> Iterator[TensorInfo]:
        return iter(self.infos())
