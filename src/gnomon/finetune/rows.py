"""Training of the new rows alone, where a table of positions was made longer."""

from typing import TypeVar, final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.utils import parametrize

from gnomon.errors import GnomonError
from gnomon.finetune.adapter import TableAdapter, single_owner
from gnomon.finetune.parameters import table_parameters
from gnomon.kernels.given import is_whole

Model = TypeVar("Model", bound=nn.Module)


@final
class NewRows(TableAdapter):
    """The first rows are kept as they are; those behind them are what is stored and trained."""

    def __init__(self, table: Float[Tensor, "n d"], first: int, *, trained: bool) -> None:
        super().__init__(trained=trained)
        self.kept = nn.Parameter(table[:first].clone(), requires_grad=False)

    def forward(self, stored: Float[Tensor, "new d"]) -> Float[Tensor, "n d"]:
        return torch.cat((self.kept, stored))

    def beneath(self, stored: nn.Parameter) -> nn.Parameter:
        return self.kept

    def right_inverse(self, table: Float[Tensor, "n d"]) -> Float[Tensor, "new d"]:
        """What is stored of a whole table."""
        return table[len(self.kept) :].clone()


def train_rows(module: Model, first: int) -> Model:
    """Train only the rows from `first` on of the learned table in `module`; those before it stay, whatever optimizer.

    For a table that was extended to more positions than it was trained for. Rows count from the start of the table:
    with `Learned(padding_offset=2)` position p is row p + 2. (To zero gradients of old rows is not enough: momentum of
    earlier steps and decoupled decay would move them.) The module is changed in place and returned; the state dict has
    both parts, and `merge` makes one table again.

    Raises GnomonError unless there is exactly one table, unadapted and of its own, that has rows on both sides.

    >>> from gnomon.encodings import Learned
    >>> encoding = train_rows(Learned(max_length=48, dim=8), first=32)
    >>> [(name, tuple(p.shape)) for name, p in encoding.named_parameters() if p.requires_grad]
    [('parametrizations.weight.original', (16, 8))]
    """
    tables = table_parameters(module)
    if len(tables) != 1:
        raise GnomonError(
            f"Rows are trained in one learned table at a time, here are {', '.join(tables) or 'none'}; pass the "
            f"part of the model that holds one."
        )
    [(name, table)] = tables.items()
    holder = single_owner(module, table, name)
    if not (is_whole(first) and 1 <= first < len(table)):
        raise GnomonError(f"The first row to train is 1 to {len(table) - 1} in a table of {len(table)}, got {first!r}.")
    adapter = NewRows(table.detach(), first, trained=table.requires_grad)
    parametrize.register_parametrization(holder, name.rpartition(".")[2], adapter)
    table.requires_grad_(True)
    return module
