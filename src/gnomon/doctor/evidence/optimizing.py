"""Which groups of which optimizers hold each parameter that carries positions."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.adapters.wording import said
from gnomon.doctor.evidence.base import evidence
from gnomon.doctor.evidence.position_parameters import PositionParameter, position_parameters
from gnomon.errors import GnomonError


@dataclass(frozen=True)
class Held:
    """One parameter with the groups that hold it, of all optimizers; a group is torch's mapping of its options.

    `replaced`: an optimizer holds another tensor of the same shape that the model does not.
    """

    parameter: PositionParameter
    trainable: bool
    groups: tuple[Mapping[str, Any], ...]
    replaced: bool

    @property
    def name(self) -> str:
        return self.parameter.name


@dataclass(frozen=True)
class Optimizing:
    """The position parameters, and of all the model's parameters how many are held by an optimizer, and their rates."""

    held: tuple[Held, ...]
    parameters: int
    parameters_held: int
    rates: tuple[float, ...]


@evidence
def optimizers(subject: Subject) -> tuple[nn.Module, tuple[Optimizer, ...]]:
    """The module that the optimizers hold, and them. A function given in their place is called with a copy."""
    given = subject.get("optimizer")
    if callable(given) and not isinstance(given, Optimizer):
        module = subject.module
        try:
            given = given(module)
        except Exception as error:  # noqa: BLE001  the caller's own code
            raise GnomonError(f"The function that makes the optimizer fails: {said(error)}.") from None
    else:
        module = subject.get("original")
    several = tuple(given) if isinstance(given, list | tuple) else (given,)
    for one in several:
        if not isinstance(one, Optimizer):
            kind = type(one).__name__
            raise GnomonError(f"An optimizer is a torch.optim.Optimizer or a function that makes one, got a {kind}.")
    return module, several


@evidence
def optimizing(subject: Subject) -> Optimizing:
    """Parameters are matched by identity with those of the module that was passed, not of any copy."""
    module, several = optimizers(subject)
    every = [group for one in several for group in one.param_groups]
    groups: dict[int, list[Mapping[str, Any]]] = {}
    for group in every:
        for parameter in group["params"]:
            groups.setdefault(id(parameter), []).append(group)
    weights = dict(module.named_parameters())
    own = {id(weight) for weight in weights.values()}
    foreign = {tuple(p.shape) for group in every for p in group["params"] if id(p) not in own}
    asked = [p for p in position_parameters(subject) if p.name in weights]
    if not asked:
        raise MissingEvidence("the module that the optimizer holds has none of the parameters that carry positions")
    held = tuple(
        Held(p, w.requires_grad, tuple(groups.get(id(w), ())), tuple(w.shape) in foreign)
        for p in asked
        for w in [weights[p.name]]
    )
    rates = tuple(_rate(group) for group in every)
    trained = [weight for weight in weights.values() if weight.requires_grad]
    return Optimizing(held, len(trained), sum(id(weight) in groups for weight in trained), rates)


def _rate(group: Mapping[str, Any]) -> float:
    rate = group.get("lr", 0.0)
    return float(rate.detach()) if isinstance(rate, torch.Tensor) else float(rate)
