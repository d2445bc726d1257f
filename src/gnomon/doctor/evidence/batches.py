"""The caller's batches as forward arguments of the module: by name, without what the forward does not take."""

import inspect
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.adapters.example import bind_example
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.base import evidence
from gnomon.errors import GnomonError

MOST = 64  # batches read; more cost time and show no more kinds of faults


@evidence
def batch_arguments(subject: Subject) -> tuple[dict[str, Any], ...]:
    """Forward arguments of each batch, on the module's device; a batch is a mapping, a tuple, or one tensor."""
    given = subject.get("batches")
    if isinstance(given, Mapping | str | Tensor) or not hasattr(given, "__iter__"):
        raise GnomonError(f"batches is a list of forward arguments (mappings or tuples), got {type(given).__name__}.")
    found = []
    for batch in given:
        found.append(arguments_of(subject.module, batch))
        if len(found) == MOST:
            break
    if not found:
        raise MissingEvidence("the list of batches is empty")
    return tuple(found)


def arguments_of(module: nn.Module, batch: Any) -> dict[str, Any]:
    """What of a batch the forward takes; extra keys of a data loader are left out."""
    parameters = inspect.signature(module.forward).parameters
    takes_all = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values())
    bound = dict(batch) if isinstance(batch, Mapping) else bind_example(module, batch)
    if parameters and not takes_all and not set(bound) & set(parameters):
        named = ", ".join(map(str, bound)) or "nothing"
        raise GnomonError(f"A batch holds {named}, and the forward takes {', '.join(parameters)}.")
    device = next((p.device for p in module.parameters()), torch.device("cpu"))
    return {
        name: value.to(device) if isinstance(value, Tensor) else value
        for name, value in bound.items()
        if takes_all or name in parameters
    }
