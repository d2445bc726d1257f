"""Copies of a probe's model that may be run, cast and filled without touching what other checks see."""

import copy

from torch import nn

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.adapters.wording import said
from gnomon.doctor.evidence.calling import Model


def replica(probe: Model, module: nn.Module | None = None) -> Model:
    """The same way of calling around another module: a deep copy of the probe's own when none is given."""
    other = copy.copy(probe)
    other.module = copy.deepcopy(probe.module) if module is None else module
    return other


def require_operations(subject: Subject) -> None:
    """Raise MissingEvidence for a graph of another runtime, in which torch sees no operation and no buffer."""
    if subject.has("graph"):
        raise MissingEvidence("the target is an exported graph, whose operations torch does not run")


def untouched(subject: Subject) -> nn.Module:
    """A copy of the module as it was given: nothing here has run it, so what it caches is empty or its owner's."""
    require_operations(subject)
    try:
        return copy.deepcopy(subject.module).eval()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - any object may hang on a module
        raise MissingEvidence(f"the module cannot be copied: {said(error)}") from None
