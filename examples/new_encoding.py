"""A position encoding of your own: used, held to the contract, examined, drawn. `python examples/new_encoding.py`"""

import math
import tempfile
from pathlib import Path
from typing import Any, final

import torch
from jaxtyping import Float32, Int64
from torch import Tensor

import gnomon
from gnomon.attention import Attention
from gnomon.encodings.base import registry
from gnomon.encodings.score_bias import DistanceBias
from gnomon.models import Decoder, ModelOptions
from gnomon.plots import write_figures
from gnomon.portraits import portrait
from gnomon.testing import Reference, check_encoding

HEADS, DIM, SLOPE = 4, 32, 0.5


@registry.register("log_distance")
@final
class LogDistance(DistanceBias):
    """A penalty of slope * ln(1 + distance), the slope halved from head to head."""

    def __init__(self, num_heads: int, *, slope: float = SLOPE) -> None:
        super().__init__(num_heads)
        self.slope = slope

    def by_distance(self, relative: Int64[Tensor, "*S"]) -> Float32[Tensor, "H *S"]:
        slopes = [self.slope / 2**head for head in range(self.num_heads)]
        return torch.stack([-slope * torch.log1p(relative.abs().float()) for slope in slopes])

    @property
    def options(self) -> dict[str, Any]:
        return {"num_heads": self.num_heads, "slope": self.slope}


def formula(head: int, query: int, key: int) -> float:
    """The same numbers in plain Python, from the definition: what the contract compares with."""
    return -SLOPE * 0.5**head * math.log(1 + abs(query - key))


def main() -> None:
    encoding = LogDistance(HEADS)

    layer = Attention(DIM, num_heads=HEADS, encoding=encoding, causal=True)
    print("attention:", tuple(layer(torch.randn(2, 7, DIM), torch.arange(7)[None]).shape))

    check_encoding(encoding, reference=Reference(bias=formula))
    print("contract: kept")

    sizes = ModelOptions(vocabulary=50, dim=DIM, num_layers=2, num_heads=HEADS)
    report = gnomon.diagnose(Decoder(sizes, encoding=encoding))
    print("doctor passed:", ", ".join(result.name for result in report.checks if result.status == "passed"))
    if not report.ok:
        raise SystemExit(f"The doctor found {', '.join(result.name for result in report.failed)}.")

    with tempfile.TemporaryDirectory() as folder:
        picture = Path(folder) / "log_distance.png"
        write_figures(portrait(encoding, length=64), picture)
        print(f"picture: {picture.stat().st_size} bytes")


if __name__ == "__main__":
    main()
