"""Which position parameters a backward pass reaches, at two lengths, and which of them the outputs depend on."""

import copy
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.adapters.wording import said
from gnomon.doctor.evidence.base import evidence
from gnomon.doctor.evidence.calling import Model, model
from gnomon.doctor.evidence.idle import part_of
from gnomon.doctor.evidence.noise import difference
from gnomon.doctor.evidence.position_parameters import PositionParameter, position_parameters
from gnomon.doctor.evidence.redraw import redraw
from gnomon.doctor.evidence.signature import main_output

BATCH, LENGTHS = 2, (7, 13)
PUSH = 0.5  # noise added to a parameter to see whether outputs follow it


@dataclass(frozen=True)
class Reached:
    """Whether the gradient of one trainable parameter existed, and was not zero, in each pass.

    `effect`: by how much the outputs follow the parameter, relative to their size. `around`: a gradient reaches the
    part of the model it stands in; else that part was not run, as the image tower of a model that reads text alone.
    """

    parameter: PositionParameter
    in_graph: tuple[bool, ...]
    not_zero: tuple[bool, ...]
    effect: float
    around: bool

    @property
    def name(self) -> str:
        return self.parameter.name


@dataclass(frozen=True)
class Backward:
    """Passes at several lengths; `failure` is what the backward pass said when it does not run."""

    reached: tuple[Reached, ...]
    failure: str = ""


@evidence
def backward(subject: Subject) -> Backward:
    """Two backward passes of a random reading of the outputs, on a copy, at two lengths one after the other."""
    probe = model(subject)
    module = _fresh(subject)
    asked = _trainable(module, subject)
    own = copy.copy(probe)
    own.module = module
    passes, live = [], set[str]()
    for length in LENGTHS:
        try:
            passes.append(_gradients(own, asked, length))
        except RuntimeError as error:
            return Backward((), said(error))
        live |= {name for name, weight in module.named_parameters() if weight.grad is not None}
    effects = {parameter.name: _effect(own, weight) for parameter, weight in asked}
    return Backward(
        tuple(
            Reached(
                parameter,
                tuple(p[parameter.name] is not None for p in passes),
                tuple(bool(p[parameter.name]) for p in passes),
                effects[parameter.name],
                any(name.startswith(part_of(parameter.name)) for name in live),
            )
            for parameter, _ in asked
        )
    )


def _fresh(subject: Subject) -> nn.Module:
    """A copy that has not run yet: a cache filled without autograd would hide what a first step does."""
    module = copy.deepcopy(subject.module).eval()
    if not subject.trained:
        redraw(module)
    return module


def _trainable(module: nn.Module, subject: Subject) -> list[tuple[PositionParameter, nn.Parameter]]:
    weights = dict(module.named_parameters())
    asked = [(p, weights[p.name]) for p in position_parameters(subject) if p.name in weights]
    asked = [(p, weight) for p, weight in asked if weight.requires_grad]
    if not asked:
        raise MissingEvidence("no parameter that carries positions asks for a gradient")
    return asked


def _gradients(
    probe: Model, asked: list[tuple[PositionParameter, nn.Parameter]], length: int
) -> dict[str, bool | None]:
    """For each parameter: None without a gradient, else whether any of it is not zero."""
    probe.module.zero_grad(set_to_none=True)
    content = probe.draw(BATCH, 0 if probe.takes_images else probe.length(length), seed=61)
    with torch.enable_grad():
        output = main_output(probe.forward(content))
        if not output.requires_grad:
            raise MissingEvidence("the outputs carry no gradient: the forward runs without autograd")
        reading = torch.randn(output.shape, generator=torch.Generator().manual_seed(2)).to(output)
        (output * reading).sum().backward()
    return {p.name: None if weight.grad is None else _any(weight.grad) for p, weight in asked}


def _any(gradient: Tensor) -> bool:
    return bool(gradient.to_dense().count_nonzero() if gradient.is_sparse else gradient.count_nonzero())


def _effect(probe: Model, weight: nn.Parameter) -> float:
    """How far outputs move when the parameter does."""
    content = probe.draw(BATCH, 0 if probe.takes_images else probe.length(LENGTHS[0]), seed=62)
    before = probe(content)
    kept = weight.detach().clone()
    noise = torch.randn(kept.shape, generator=torch.Generator().manual_seed(3)).to(kept)
    with torch.no_grad():
        weight.add_(PUSH * noise)
        after = probe(content)
        weight.copy_(kept)
    return difference(before, after) if bool(after.isfinite().all()) else 1.0
