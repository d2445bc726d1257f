"""The sizes of a model that options, memory and parameters are worked out from."""

from dataclasses import dataclass
from typing import Literal, get_args

DType = Literal["float32", "bfloat16", "float16"]
DTYPES: tuple[DType, ...] = get_args(DType)


@dataclass(frozen=True)
class ModelSizes:
    """Sizes that are known; None for the others. `key_heads`: heads of keys and values where queries share them."""

    dim: int | None = None
    num_heads: int | None = None
    head_dim: int | None = None
    num_layers: int | None = None
    key_heads: int | None = None
    batch: int | None = None
    dtype: DType = "bfloat16"

    def known(self) -> dict[str, int]:
        """The whole numbers that were given, by name."""
        return {name: value for name, value in vars(self).items() if name != "dtype" and value is not None}
