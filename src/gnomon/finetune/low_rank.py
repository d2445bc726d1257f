"""Low-rank adapters for learned tables of positions: LoRA, Hu et al. 2021, arXiv:2106.09685, section 4.1."""

import math
from collections.abc import Iterator
from typing import TypeVar, final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.utils import parametrize

from gnomon.errors import GnomonError
from gnomon.finetune.adapter import TableAdapter, single_owner
from gnomon.finetune.parameters import learned_parameters, table_parameters
from gnomon.kernels.given import is_number, is_whole, require
from gnomon.kernels.precision import full_precision

Model = TypeVar("Model", bound=nn.Module)


@final
class LowRank(TableAdapter):
    """table + scale x rows @ columns, with rows (n, rank) of zeros and columns (rank, d) from N(0, 1 / rank).

    At first the table is unchanged to the bit. The product is in float32 or better whatever autocast says, and cast
    once to the dtype of the table.
    """

    def __init__(
        self, table: Float[Tensor, "n d"], rank: int, *, scale: float, trained: bool, generator: torch.Generator | None
    ) -> None:
        super().__init__(trained=trained)
        self.scale = scale
        drawn = torch.randn(rank, table.shape[1], generator=generator) / math.sqrt(rank)
        self.rows = nn.Parameter(torch.zeros(table.shape[0], rank, dtype=table.dtype, device=table.device))
        self.columns = nn.Parameter(drawn.to(table))

    def forward(self, stored: Float[Tensor, "n d"]) -> Float[Tensor, "n d"]:
        dtype = torch.promote_types(stored.dtype, torch.float32)
        with full_precision(stored.device):
            moved = self.rows.to(dtype) @ self.columns.to(dtype) * self.scale
        return stored + moved.to(stored.dtype)

    def beneath(self, stored: nn.Parameter) -> nn.Parameter:
        return stored


def low_rank(module: Model, rank: int, *, scale: float = 1.0, generator: torch.Generator | None = None) -> Model:
    """Freeze the learned tables of positions in `module` and train an adapter of this rank in the place of each.

    `module` is an encoding (`Learned`, `T5Bias`, `Shaw`, ...) or a whole model, gnomon's or another's whose tables
    `position_parameters` names (BERT, GPT-2, T5). Adapted are tables of n x d numbers, with a row for each position,
    distance or bucket: then (n + d) rank numbers train instead of n d. Other position parameters (slopes, small
    networks, projections of a table, vectors for each head) are frozen. The module is changed in place and returned. It
    computes what it did before, until the first step. A module that many layers share gets one adapter.

    The state dict has the table as `parametrizations.<name>.original` and beside it the adapter's two factors;
    `adapter_state` picks these. `merge` makes plain tables again. Pickling waits for that too: torch's parametrizations
    are saved through the state dict. `generator` (of the CPU) draws the columns, torch's default one without it.

    Raises GnomonError for a rank that no table has, for a tied or an adapted table, and where there is no table. The
    module is then as it was.

    >>> from gnomon.encodings import Learned
    >>> encoding = low_rank(Learned(max_length=512, dim=64), rank=4)
    >>> [name for name, parameter in encoding.named_parameters() if parameter.requires_grad]
    ['parametrizations.weight.0.rows', 'parametrizations.weight.0.columns']
    """
    if not is_number(scale) or not math.isfinite(scale) or scale == 0:
        raise GnomonError(f"The scale of a low-rank adapter is a finite number other than 0, got {scale!r}.")
    if generator is not None:
        require(generator, torch.Generator, "What draws the columns is a torch.Generator of the CPU, or None")
    every, tables = learned_parameters(module), table_parameters(module)
    if not tables:
        raise GnomonError(
            "There is no learned table of positions here to adapt, n x d with a row for each position, distance or "
            "bucket; pass a model or an encoding with one."
        )
    holders = {name: single_owner(module, table, name) for name, table in tables.items()}
    for name, table in tables.items():
        if not (is_whole(rank) and 1 <= rank <= min(table.shape)):
            raise GnomonError(
                f"The rank of an adapter for {name} is 1 to {min(table.shape)}, for a table of {tuple(table.shape)}; "
                f"got {rank!r}."
            )
    beside = {id(other) for name, other in every.items() if name not in tables and other.requires_grad}
    frozen = tuple(_places(module, beside))
    for name, table in tables.items():
        adapter = LowRank(table.detach(), rank, scale=scale, trained=table.requires_grad, generator=generator)
        adapter.frozen = frozen
        parametrize.register_parametrization(holders[name], name.rpartition(".")[2], adapter)
    for parameter in every.values():
        parameter.requires_grad_(False)
    return module


def _places(module: nn.Module, parameters: set[int]) -> Iterator[tuple[nn.Module, str]]:
    """Each module that holds one of these parameters itself, with the name there."""
    for part in module.modules():
        for name, parameter in part.named_parameters(recurse=False):
            if id(parameter) in parameters:
                yield part, name
