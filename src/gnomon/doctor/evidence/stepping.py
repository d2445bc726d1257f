"""One training step on a copy of the module and its optimizer: how far position parameters and words move."""

import copy
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import SGD, Optimizer

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.adapters.wording import said
from gnomon.doctor.evidence.base import attempt, evidence
from gnomon.doctor.evidence.batches import batch_arguments
from gnomon.doctor.evidence.optimizing import optimizers
from gnomon.doctor.evidence.position_parameters import position_parameters
from gnomon.doctor.evidence.signature import main_output
from gnomon.doctor.evidence.tables import Table, tables, word_table

RATE = 0.01  # of the plain gradient step that stands in for an optimizer


@dataclass(frozen=True)
class Moved:
    """RMS of the change and of the numbers before it, over the rows that changed; 0 rows: nothing changed."""

    name: str
    change: float
    before: float
    rows: int

    @property
    def ratio(self) -> float | None:
        """None when the numbers were zero before."""
        return self.change / self.before if self.before else None


@dataclass(frozen=True)
class Step:
    """`positions` are trainable; `fixed` hold a formula; `trained`: the step is the optimizer's, not a plain one."""

    positions: tuple[Moved, ...]
    fixed: tuple[Moved, ...]
    words: Moved | None
    trained: bool


@evidence
def training_step(subject: Subject) -> Step:
    """Forward, backward and optimizer step over one batch in train mode, everything on copies."""
    if not subject.has("optimizer") and not subject.has("batches"):
        raise MissingEvidence("no optimizer and no batches: pass what trains the model as evidence")
    module, several = _copied(subject)
    batch = (attempt(batch_arguments, subject) or (dict(subject.example),))[0]
    module.train()
    names = {p.name for p in attempt(position_parameters, subject) or ()}
    fixed = [t for t in attempt(tables, subject) or () if _is_fixed(t)]
    words = _words(subject)
    with torch.enable_grad(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        _loss(module, batch)  # caches that grow with the length are grown before anything is compared
        before = _numbers(module)
        _walk(module, several, batch)
    after = _numbers(module)
    trainable = {name for name, p in module.named_parameters() if p.requires_grad}
    formulas = {t.name for t in fixed}
    moved = {n: _moved(n, before[n], after[n]) for n in (*names, *formulas, *words) if n in before and n in after}
    return Step(
        tuple(moved[n] for n in names if n in moved and n in trainable and n not in formulas),
        tuple(moved[n] for n in formulas if n in moved),
        next((moved[n] for n in words if n in moved), None),
        subject.has("optimizer"),
    )


def _copied(subject: Subject) -> tuple[nn.Module, tuple[Optimizer, ...]]:
    if not subject.has("optimizer"):
        module = copy.deepcopy(subject.module)
        return module, (SGD([p for p in module.parameters() if p.requires_grad], lr=RATE),)
    try:
        copies: tuple[nn.Module, tuple[Optimizer, ...]] = copy.deepcopy(optimizers(subject))
    except (TypeError, RuntimeError, AttributeError) as error:
        raise MissingEvidence(f"the module and its optimizer cannot be copied: {said(error)}") from None
    return copies


def _walk(module: nn.Module, several: tuple[Optimizer, ...], batch: Mapping[str, Any]) -> None:
    for one in several:
        one.zero_grad(set_to_none=True)
    loss = _loss(module, batch)
    if not loss.requires_grad:
        raise MissingEvidence("the loss carries no gradient")
    try:
        loss.backward()
        for one in several:
            one.step()
    except RuntimeError as error:
        raise MissingEvidence(f"the training step fails: {said(error)}") from None


def _loss(module: nn.Module, batch: Mapping[str, Any]) -> Tensor:
    """The loss that the forward returns, else a fixed random reading of its outputs."""
    try:
        result = module(**batch)
    except (Exception, SystemExit) as error:
        raise MissingEvidence(f"the forward fails on a batch: {said(error)}") from error
    loss = result.get("loss") if isinstance(result, Mapping) else getattr(result, "loss", None)
    if isinstance(loss, Tensor):
        return loss
    output = main_output(result)
    reading = torch.randn(output.shape, generator=torch.Generator().manual_seed(4)).to(output)
    return (output * reading).mean()


def _is_fixed(table: Table) -> bool:
    return table.sinusoid is not None or table.kind == "frequencies"


def _words(subject: Subject) -> tuple[str, ...]:
    found = attempt(word_table, subject)
    return () if found is None else (found.name,)


def _numbers(module: nn.Module) -> dict[str, Tensor]:
    return {
        name: value.detach().clone()
        for name, value in (*module.named_parameters(), *module.named_buffers())
        if value.is_floating_point() and not re.search("mask", name)
    }


def _moved(name: str, before: Tensor, after: Tensor) -> Moved:
    if before.shape != after.shape:
        return Moved(name, 0.0, 1.0, 0)  # grown with the length
    rows = before.double().reshape(-1, before.shape[-1]) if before.ndim > 1 else before.double()[:, None]
    change = after.double().reshape(rows.shape) - rows
    hit = change.abs().amax(dim=1) > 0
    if not bool(hit.any()):
        return Moved(name, 0.0, _rms(rows), 0)
    return Moved(name, _rms(change[hit]), _rms(rows[hit]), int(hit.sum()))


def _rms(values: Tensor) -> float:
    return float(values.square().mean().sqrt()) if values.numel() else 0.0
