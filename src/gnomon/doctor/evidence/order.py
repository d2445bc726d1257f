"""Does the model look forward, and does it see order? Measured by changing and by moving tokens."""

from dataclasses import dataclass, field
from typing import Literal

import torch

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.base import evidence
from gnomon.doctor.evidence.calling import Model, model
from gnomon.doctor.evidence.noise import difference
from gnomon.doctor.thresholds import OUTPUT

LENGTH = 13


@dataclass(frozen=True)
class Causality:
    """`leaks`: for each place, how much changing the last token changed it. `causal`: nothing but the last changed.

    `carries`: the same for the first token.
    """

    leaks: list[float]
    carries: list[float] = field(default_factory=list)

    @property
    def causal(self) -> bool:
        return max(self.leaks[:-1]) < 1e-5

    @property
    def windowed(self) -> bool:
        """Whether the first token does not reach the last places: what is near alone is seen, on both sides."""
        return bool(self.carries) and self.carries[-1] < 1e-5

    @property
    def backwards(self) -> bool:
        """Whether each token reaches the earlier ones and none reaches a later one: causal, the wrong way round."""
        return bool(self.carries) and max(self.carries[1:]) < 1e-5 < min(self.leaks[:-1])

    @property
    def direction(self) -> Literal["causal", "both ways"]:
        return "causal" if self.causal else "both ways"


@evidence
def causality(subject: Subject) -> Causality:
    """Changes the last token and looks which outputs move."""
    probe = model(subject)
    length = probe.length(LENGTH)
    if length < 3:
        raise MissingEvidence(f"the model takes {length} places; moving tokens needs 3")
    content = probe.draw(2, length, seed=11)
    changed = content.clone()
    changed[:, -1] = other(probe, content)[:, -1]
    first = content.clone()
    first[:, 0] = other(probe, content)[:, 0]
    before = probe(content)
    require_sequence(before, content.shape[1])
    return Causality(_moved(before, probe(changed)), _moved(before, probe(first)))


def _moved(before: torch.Tensor, after: torch.Tensor) -> list[float]:
    """How much each place moved, relative to the largest output."""
    scale = float(before.abs().max()) + 1e-30
    return [float(m) for m in (before - after).abs().flatten(2).amax(dim=(0, 2)) / scale]


def other(probe: Model, content: torch.Tensor) -> torch.Tensor:
    """Content that differs from `content` at every place."""
    if not probe.takes_ids:
        return -content + 0.5
    low = min(5, probe.vocabulary // 2)
    span = probe.vocabulary - low
    return low + (content - low + max(1, span // 3)) % span


@evidence
def mixing(subject: Subject) -> float:
    """How much an output depends on other tokens: by the last token's effect on the others, or the others' on it.

    Raises MissingEvidence when it hardly does: then order cannot matter, or the weights hide that it does.
    """
    found = causality(subject)
    effect = max(found.leaks[:-1])
    if found.causal:
        probe = model(subject)
        content = probe.draw(2, len(found.leaks), seed=11)
        changed = torch.cat((other(probe, content)[:, :-1], content[:, -1:]), dim=1)
        effect = difference(probe(content)[:, -1], probe(changed)[:, -1])
    if effect < OUTPUT.value:
        raise MissingEvidence("no token has an effect on another's output: nothing mixes them")
    return effect


def require_sequence(output: torch.Tensor, length: int) -> None:
    """Raise MissingEvidence unless the output has one vector for each place."""
    if output.ndim < 3 or output.shape[1] != length:
        raise MissingEvidence(f"the output {tuple(output.shape)} has no vector for each of {length} places")


@evidence
def reordering(subject: Subject) -> float:
    """How much the outputs differ from a mere reordering when the tokens are reordered.

    A model that looks both ways: the outputs of the reordered input, put back, against the first. A causal one: the
    last output after the earlier tokens were reordered. 0 means that order changes nothing.
    """
    probe = model(subject)
    length = probe.length(LENGTH)
    content = probe.draw(2, length, seed=12)
    content[:, 0] = other(probe, content[:, 1:2]).squeeze(1)  # a row of one token would hide everything
    if causality(subject).causal:
        order = torch.cat((torch.arange(length - 2, -1, -1), torch.tensor([length - 1])))
        return difference(probe(content)[:, -1], probe(content[:, order])[:, -1])
    order = torch.randperm(length, generator=torch.Generator().manual_seed(1))
    return difference(probe(content)[:, order], probe(content[:, order]))
