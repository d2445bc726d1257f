"""Dropout falls twice on words and positions: once in the encoding's module, and once in the model behind it.

With a rate of 10 %, 19 % of the numbers are lost instead of 10 %.
"""

from pathlib import Path

from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_forward import Sinusoids, Stack
from tests.helpers.toys import DIM


class Again(Sinusoids):
    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.dropout(super().forward(x))
        return out


def faulty(folder: Path) -> nn.Module:
    return Stack(Again(DIM, batch_first=True, dropout=0.1), batch_first=True)


def healthy(folder: Path) -> nn.Module:
    return Stack(Sinusoids(DIM, batch_first=True, dropout=0.1), batch_first=True)


ITEM = Fault(
    source="jadore801120/attention-is-all-you-need-pytorch#69, THUDM/Chinese-Transformer-XL#8",
    check="PE329",
    where="the embeddings",
    right="dropout falls 2 times.*2 times 0.1 drop 0.19",
    build=faulty,
    healthy=healthy,
    severity="note",
)
