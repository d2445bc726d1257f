"""The same class built anew: what its fixed tables hold when nothing has been loaded, cast or run."""

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.adapters.wording import said
from gnomon.doctor.evidence.base import evidence

LARGEST = 50_000_000  # parameters; drawing more takes seconds
NO_FACTORY = "the module has no config to build it anew from; pass factory=, a function that builds it"


@dataclass(frozen=True)
class FixedTable:
    """A buffer that two fresh builds agree on, as the subject has it and as a fresh build has it."""

    name: str
    here: Tensor
    fresh: Tensor


@evidence
def fixed_tables(subject: Subject) -> tuple[FixedTable, ...]:
    """Floating buffers beside those of two fresh builds; drawn ones, which differ between builds, are left out."""
    module = subject.module
    if sum(p.numel() for p in module.parameters()) > LARGEST:
        raise MissingEvidence(f"the model has more than {LARGEST:,} parameters; building it anew takes too long")
    first, second = (dict(_floating(_built(subject, seed))) for seed in (0, 1))
    here = dict(_floating(module))
    found = tuple(
        FixedTable(name, here[name], value)
        for name, value in first.items()
        if name in here and name in second and torch.equal(value, second[name])
    )
    if not found:
        raise MissingEvidence("the module keeps no fixed table in a buffer")
    return found


def _floating(module: nn.Module) -> Iterator[tuple[str, Tensor]]:
    for name, buffer in module.named_buffers():
        if buffer.is_floating_point() or buffer.is_complex():
            yield name, buffer.detach().cpu()


def _built(subject: Subject, seed: int) -> nn.Module:
    """A fresh build by the caller's factory, or by the class from its config; the random state is left as it was."""
    factory: Any = subject.get("factory") if subject.has("factory") else None
    kind, config = type(subject.module), getattr(subject.module, "config", None)
    if factory is None and not hasattr(kind, "config_class"):
        raise MissingEvidence(NO_FACTORY)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        try:
            made = factory() if factory is not None else kind(copy.deepcopy(config))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the user's code may raise anything
            raise MissingEvidence(f"a fresh build fails: {said(error)}") from None
    if not isinstance(made, nn.Module):
        raise MissingEvidence(f"the factory gives a {type(made).__name__}, not a module")
    return made.to(_dtype(subject.module))


def _dtype(module: nn.Module) -> torch.dtype:
    return next((p.dtype for p in module.parameters() if p.is_floating_point()), torch.float32)
