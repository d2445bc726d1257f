"""A rotation written with `polar` and complex products: the exporter stops. The real form gives the same numbers."""

from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - torch's own name for it

from tests.gallery.item import Fault
from tests.helpers.gallery_deployment import DIM, HEADS, BufferedAngles, Layer, Turned, frequencies


class ComplexLayer(Layer):
    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        q, k, v = (t.unflatten(-1, (HEADS, -1)).transpose(1, 2) for t in self.qkv(self.norm(x)).chunk(3, dim=-1))
        phases = torch.outer(torch.arange(x.shape[1], device=x.device).float(), frequencies().to(x.device))
        turns = torch.polar(torch.ones_like(phases), phases)
        q, k = (
            torch.view_as_real(torch.view_as_complex(t.unflatten(-1, (-1, 2)).contiguous()) * turns) for t in (q, k)
        )
        seen = F.scaled_dot_product_attention(q.flatten(-2), k.flatten(-2), v, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).reshape(*x.shape[:2], DIM))
        mixed: Tensor = x + self.mix(x)
        return mixed


def faulty(folder: Path) -> nn.Module:
    return Turned(BufferedAngles(), layer=ComplexLayer)


def healthy(folder: Path) -> nn.Module:
    return Turned(BufferedAngles())


ITEM = Fault(
    source="onnx/onnx#6480, heyoeyo/muggled_sam#3",
    check="PE607",
    where="layers.0",
    right=r"polar.*cannot be exported.*\(a cos - b sin, a sin \+ b cos\)",
    build=faulty,
    healthy=healthy,
    severity="note",
)
