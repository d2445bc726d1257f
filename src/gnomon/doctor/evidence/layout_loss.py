"""The loss on the caller's text with query and key rows as they are, and gathered to each layout of a rotation."""

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from gnomon.adapters.module import ModuleTensors
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.base import evidence
from gnomon.doctor.evidence.calling import Model, untouched_model
from gnomon.doctor.evidence.order import causality
from gnomon.doctor.evidence.query_key_rows import Heads, heads, projections

LONGEST, SHORTEST = 384, 24  # tokens
Gather = Callable[[nn.Module, str], int]  #: moves rows of a module to "half" or "interleaved"; how many projections


@dataclass(frozen=True)
class LayoutLoss:
    """Mean loss (nats a token) with the rows as they are; by how much it falls when they are gathered, with errors."""

    plain: float
    falls: Mapping[str, float]
    errors: Mapping[str, float]
    tokens: int
    projections: int


@evidence
def layout_loss(subject: Subject) -> LayoutLoss:
    """The losses; raises MissingEvidence without text, trained weights, or projections of their own."""
    return loss_of_layouts(subject, lambda module, how: gather_projections(module, heads(subject), how))


def loss_of_layouts(subject: Subject, gather: Gather) -> LayoutLoss:
    """The losses with rows gathered in any way; raises MissingEvidence as `layout_loss` does."""
    if not subject.trained:
        raise MissingEvidence("the weights do not come from a checkpoint: the loss of random ones says nothing")
    text = torch.as_tensor(subject.get("text")).reshape(-1)
    probe = untouched_model(subject)
    if not causality(subject).causal:
        raise MissingEvidence("the model looks both ways: it predicts no next token")
    ids = text[: probe.length(min(LONGEST, len(text)))].to(probe.device)
    if len(ids) < SHORTEST:
        raise MissingEvidence(f"{len(ids)} tokens of text are too few: at least {SHORTEST}")
    plain = _losses(probe, ids)
    falls, errors, count = {}, {}, 0
    for how in ("half", "interleaved"):
        other = copy.copy(probe)
        other.module = copy.deepcopy(probe.module)
        count = gather(other.module, how)
        difference = plain - _losses(other, ids)
        falls[how] = float(difference.mean())
        errors[how] = float(difference.std() / len(difference) ** 0.5)
    return LayoutLoss(float(plain.mean()), falls, errors, len(ids), count)


def gather_projections(module: nn.Module, shape: Heads, how: str) -> int:
    """Gather the rows of every query and key projection of a copy; how many there are."""
    found = [info for (_, role, _), info in projections(ModuleTensors(module)).items() if role != "fused"]
    if not found:
        raise MissingEvidence("no query and key projections of their own by a name the field uses")
    with torch.no_grad():
        for info in found:
            weight = module.get_parameter(info.name)
            if weight.shape[0] % shape.width:
                raise MissingEvidence(f"the {weight.shape[0]} rows of {info.name} are no heads of {shape.width}")
            weight.copy_(weight[shape.rows_of(how, len(weight)).to(weight.device)])
    return len(found)


def _losses(probe: Model, ids: Tensor) -> Tensor:
    """(S,) tokens -> (S - 1,) the loss of each next one, float64."""
    logits = probe(ids[None])
    if logits.ndim != 3 or logits.shape[-1] <= int(ids.max()):
        raise MissingEvidence("the forward gives no logits over the tokens")
    return nn.functional.cross_entropy(logits[0, :-1].double(), ids[1:], reduction="none").cpu()
