"""Flex attention gives other outputs than every other path: it divides queries by the width of the head once more."""

from pathlib import Path
from typing import Any

from torch import Tensor

from tests.gallery.item import Fault
from tests.helpers.toys import llama


def faulty(folder: Path) -> Any:
    from transformers.models.llama.modeling_llama import LlamaAttention

    class ScaledTwice(LlamaAttention):
        def forward(self, *args: Any, **options: Any) -> tuple[Tensor, Any]:
            own = self.head_dim**-0.5
            self.scaling = own * own if self.config._attn_implementation == "flex_attention" else own
            return super().forward(*args, **options)  # type: ignore[no-any-return]

    model = llama()
    for layer in model.model.layers:
        layer.self_attn.__class__ = ScaledTwice
    return model


def healthy(folder: Path) -> Any:
    return llama()


ITEM = Fault(
    source="page: transformers, attention interface",
    check="PE321",
    where="flex_attention",
    right="differs by .* from the model's own path",
    build=faulty,
    healthy=healthy,
)
