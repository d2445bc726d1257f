"""Position parameters that training leaves alone, and those that it moves again."""

from collections.abc import Iterable

from torch import nn

from gnomon.errors import GnomonError
from gnomon.finetune.adapter import beneath_adapters
from gnomon.finetune.parameters import learned_parameters, position_parameters
from gnomon.kernels.given import require


def freeze(model: nn.Module) -> tuple[str, ...]:
    """Stop training every parameter that carries positions; returns the names of those that trained until now.

    Freeze before the optimizer is made. torch's optimizers leave a parameter without gradient alone, its decay too.

    >>> from gnomon.encodings import Learned
    >>> encoding = Learned(max_length=16, dim=8)
    >>> freeze(encoding), encoding.weight.requires_grad
    (('weight',), False)
    """
    trained = {name: parameter for name, parameter in position_parameters(model).items() if parameter.requires_grad}
    for parameter in trained.values():
        parameter.requires_grad_(False)
    return tuple(trained)


def unfreeze(model: nn.Module, names: Iterable[str] | None = None) -> tuple[str, ...]:
    """Train position parameters again: these, or all that are there to be learned; returns the names that changed.

    Without names, a table that the config calls fixed (sinusoids kept as a parameter) stays frozen, and so does what an
    adapter keeps beneath it. A str is one name. Raises GnomonError for a name that is no position parameter of the
    model; nothing has changed then.
    """
    parameters, kept = position_parameters(model), beneath_adapters(model)
    learned = [name for name, parameter in learned_parameters(model).items() if id(parameter) not in kept]
    chosen = learned if names is None else _each_once(names)
    unknown = [name for name in chosen if name not in parameters]
    if unknown:
        raise GnomonError(
            f"The model has no position parameter {', '.join(unknown)}; it has {', '.join(parameters) or 'none'}."
        )
    changed = tuple(name for name in chosen if not parameters[name].requires_grad)
    for name in changed:
        parameters[name].requires_grad_(True)
    return changed


def _each_once(names: Iterable[str]) -> list[str]:
    if isinstance(names, str):
        return [names]
    given = list(names) if isinstance(names, Iterable) else [names]
    for name in given:
        require(name, str, "Names of parameters are str, or None for all that is there to be learned")
    return list(dict.fromkeys(given))
