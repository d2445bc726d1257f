"""Optimizer parameter groups in which weight decay pulls no position towards zero."""

import math
from typing import Any

from torch import nn

from gnomon.errors import GnomonError
from gnomon.finetune.parameters import owners, position_parameters
from gnomon.kernels.given import is_number


def parameter_groups(model: nn.Module, *, weight_decay: float) -> list[dict[str, Any]]:
    """What an optimizer takes in place of `model.parameters()`: up to three groups, of which the first alone decays.

    `weights`: matrices, word embeddings, convolutions, with this weight decay. `positions`: all of
    `position_parameters`, without; rows that no input reaches would only shrink (Loshchilov and Hutter 2019,
    arXiv:1711.05101: decoupled decay multiplies a weight by 1 - lr x decay at every step). `norms and biases`: numbers
    of fewer than two dimensions and what a normalisation layer holds, without, as GPT-2 and BERT trained.

    Each parameter that trains is in one group: one that several modules share counts once, and a frozen one is left
    out, so freeze and adapt first. A group has its `name`, the parameters, `params`, and what they are called,
    `param_names`, which torch's optimizers keep; a group that is added later must have them too.

    Raises GnomonError for a decay below 0, and where nothing trains.

    >>> from torch.optim import AdamW
    >>> from gnomon.encodings import Learned
    >>> from gnomon.models import Decoder, ModelOptions
    >>> model = Decoder(ModelOptions(vocabulary=50, dim=32, num_layers=2, num_heads=4), encoding=Learned(16, 32))
    >>> optimizer = AdamW(parameter_groups(model, weight_decay=0.1), lr=1e-3)
    >>> [(group["name"], group["weight_decay"], len(group["params"])) for group in optimizer.param_groups]
    [('weights', 0.1, 13), ('positions', 0.0, 1), ('norms and biases', 0.0, 22)]
    """
    if not (is_number(weight_decay) and math.isfinite(weight_decay) and weight_decay >= 0):
        raise GnomonError(f"Weight decay is a finite number of at least 0, got {weight_decay!r}.")
    positions, norms = {id(p) for p in position_parameters(model).values()}, _of_norms(model)
    sorted_out: dict[str, dict[str, nn.Parameter]] = {"weights": {}, "positions": {}, "norms and biases": {}}
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            plain = parameter.ndim < 2 or id(parameter) in norms
            kind = "positions" if id(parameter) in positions else "norms and biases" if plain else "weights"
            sorted_out[kind][name] = parameter
    if not any(sorted_out.values()):
        raise GnomonError("No parameter of the model trains, so there is nothing for an optimizer to hold.")
    decays = {"weights": float(weight_decay)}
    return [
        {
            "name": kind,
            "params": list(members.values()),
            "param_names": list(members),
            "weight_decay": decays.get(kind, 0.0),
        }
        for kind, members in sorted_out.items()
        if members
    ]


def _of_norms(model: nn.Module) -> set[int]:
    """Normalisation layers are told by their class's name: every library has its own RMSNorm."""
    return {id(parameter) for part, parameter in owners(model) if "norm" in type(part).__name__.lower()}
