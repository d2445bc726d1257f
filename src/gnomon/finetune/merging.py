"""Adapters that become plain tables, and what is saved of them until then."""

from typing import TypeVar

from torch import Tensor, nn
from torch.nn.utils import parametrize

from gnomon.finetune.adapter import beneath_adapters, chains
from gnomon.finetune.parameters import require_module

Model = TypeVar("Model", bound=nn.Module)


def merge(module: Model) -> Model:
    """Put what the adapters in `module` have learned into its tables and remove them; returns the module.

    It then has the names, the classes and the numbers of one that never was adapted, to the bit of what the adapted
    one read; what trained before it was adapted trains, also what `low_rank` froze beside the tables. Nothing happens
    where there is no adapter.

    >>> from gnomon.encodings import Learned
    >>> from gnomon.finetune import low_rank
    >>> list(merge(low_rank(Learned(max_length=512, dim=64), rank=4)).state_dict())
    ['weight']
    """
    require_module(module)
    parts, frozen = list(module.modules()), dict[tuple[nn.Module, str], None]()
    for part in parts:
        for name, _, adapter in list(chains(part)):
            _give_own_class(part)
            parametrize.remove_parametrizations(part, name, leave_parametrized=True)
            getattr(part, name).requires_grad_(adapter.trained)
            frozen.update(dict.fromkeys(adapter.frozen))
    for holder, name in frozen:
        if holder in parts:
            getattr(holder, name).requires_grad_(True)
    return module


def _give_own_class(part: nn.Module) -> None:
    """torch takes the property that reads a parametrized tensor off the class, which deep copies have in common."""
    shared = type(part)
    held = {name: value for name, value in vars(shared).items() if name not in ("__dict__", "__weakref__")}
    part.__class__ = type(shared.__name__, shared.__bases__, held)


def adapter_state(module: nn.Module) -> dict[str, Tensor]:
    """The part of the state dict that adapters add and train: small, for `load_state_dict(state, strict=False)`.

    >>> from gnomon.encodings import Learned
    >>> from gnomon.finetune import low_rank
    >>> {name: tuple(value.shape) for name, value in adapter_state(low_rank(Learned(512, 64), rank=4)).items()}
    {'parametrizations.weight.0.rows': (512, 4), 'parametrizations.weight.0.columns': (4, 64)}
    """
    require_module(module)
    kept = beneath_adapters(module)
    places = [
        f"{path}.parametrizations.{name}.".removeprefix(".")
        for path, part in module.named_modules()
        for name, _, _ in chains(part)
    ]
    fixed = {name for name, parameter in module.named_parameters() if id(parameter) in kept}
    state = module.state_dict().items()
    return {name: value for name, value in state if name not in fixed and name.startswith(tuple(places))}
