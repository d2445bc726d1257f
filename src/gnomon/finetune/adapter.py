"""What adapters of a table share: they stand between the stored table and all who read it."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import cast

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.utils import parametrize

from gnomon.errors import GnomonError
from gnomon.finetune.parameters import owners, plain_name


class TableAdapter(nn.Module, ABC):
    """A torch parametrization that is made for a table and remembers what trained before.

    The module keeps its class, its hooks and its promises: it reads `weight`, and gets the adapted one.
    """

    def __init__(self, *, trained: bool) -> None:
        super().__init__()
        self.trained = trained
        #: what else stopped training when the adapter was made: modules with the names of their parameters
        self.frozen: tuple[tuple[nn.Module, str], ...] = ()

    @abstractmethod
    def forward(self, stored: Float[Tensor, "stored columns"]) -> Float[Tensor, "rows columns"]:
        """The table as the module reads it, from what is stored."""

    @abstractmethod
    def beneath(self, stored: nn.Parameter) -> nn.Parameter:
        """What stays as it is, of the adapter's numbers and what is stored."""


def chains(part: nn.Module) -> Iterator[tuple[str, parametrize.ParametrizationList, TableAdapter]]:
    """Each parameter of a module itself that an adapter stands before: its name, what stands there, and the adapter."""
    if parametrize.is_parametrized(part):
        for name, chain in cast(Mapping[str, parametrize.ParametrizationList], part.parametrizations).items():
            yield from ((name, chain, each) for each in chain if isinstance(each, TableAdapter))


def beneath_adapters(module: nn.Module) -> frozenset[int]:
    """The ids of the parameters that adapters keep as they are."""
    found = (chain for part in module.modules() for chain in chains(part))
    return frozenset(id(adapter.beneath(cast(nn.Parameter, chain.original))) for _, chain, adapter in found)


def single_owner(model: nn.Module, table: nn.Parameter, name: str) -> nn.Module:
    """The module that holds this parameter; raises GnomonError where several do, or one that is adapted already."""
    holders = [part for part, parameter in owners(model) if parameter is table]
    if isinstance(holders[0], parametrize.ParametrizationList | TableAdapter):
        raise GnomonError(
            f"The table {plain_name(name)} has an adapter already; merge it first, gnomon.finetune.merge(model)."
        )
    if len(holders) > 1:
        raise GnomonError(
            f"The table {name} is tied between {len(holders)} modules, and an adapter would untie them; untie it first."
        )
    return holders[0]
