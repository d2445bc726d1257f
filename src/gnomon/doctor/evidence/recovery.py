"""Can a linear reader tell positions from hidden states? Against chance, and against the model without positions."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.base import evidence
from gnomon.doctor.evidence.calling import Model, untouched_model
from gnomon.doctor.evidence.entry import entry

SEQUENCES, LENGTH, WIDEST, WORDS = 64, 16, 256, 4
RIDGE = 1e-2


@dataclass(frozen=True)
class Recovery:
    """Shares of positions read rightly on sequences the reader was not fitted on; `control`: positions all equal."""

    where: str
    accuracy: float
    control: float | None
    chance: float


@evidence
def recovery(subject: Subject) -> Recovery:
    """Fits a ridge reader on half of the sequences of random tokens and reads the other half.

    Tokens are drawn at random from four, so that a token alone tells nothing about its place: with a fixed text the
    reader would learn the words instead (which is why labelling A, B, C with 0, 1, 2 proves nothing). Weights are as
    given: redrawn ones would drown in their own blocks what the embeddings say.
    """
    if entry(subject).axis == "batch":
        raise MissingEvidence("positions follow the batch axis (PE306)")
    probe = untouched_model(subject)
    length = probe.length(LENGTH)
    few = probe.draw(1, WORDS, seed=50)[0]
    picked = torch.randint(0, WORDS, (SEQUENCES, length), generator=torch.Generator().manual_seed(51))
    content = few[picked]
    states, where = _states(probe, content, {})
    control = None
    if probe.signature.positions is not None:
        same = torch.zeros(SEQUENCES, length, dtype=torch.int64, device=content.device)
        control = read_positions(_states(probe, content, {"positions": same})[0])
    return Recovery(where, read_positions(states), control, 1 / length)


def read_positions(states: Tensor) -> float:
    """(N, S, W) hidden states -> share of positions read rightly on the second half of the N sequences."""
    count, length, width = states.shape
    x = states.double()
    if width > WIDEST:
        mix = torch.randn(width, WIDEST, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
        x = x @ (mix / width**0.5)
    half = count // 2
    fit, test = x[:half].flatten(0, 1), x[half:].flatten(0, 1)
    mean, spread = fit.mean(0), fit.std(0) + 1e-9
    fit, test = (fit - mean) / spread, (test - mean) / spread
    labels = torch.arange(length).repeat(half)
    targets = nn.functional.one_hot(labels, length).double() - 1 / length
    gram = fit.T @ fit + RIDGE * len(fit) * torch.eye(fit.shape[1], dtype=torch.float64)
    read = (test @ torch.linalg.solve(gram, fit.T @ targets)).argmax(1)
    return float((read == torch.arange(length).repeat(count - half)).double().mean())


class _Seen(BaseException):
    """Ends a forward in which all that was wanted has been seen."""


def _states(probe: Model, content: Tensor, arguments: dict[str, Any]) -> tuple[Tensor, str]:
    """The hidden states after the first block, and that block's path; the forward goes no further."""
    block = _first_block(probe.module)
    kept: list[Tensor] = []

    def keep(_: nn.Module, __: Any, out: Any) -> None:
        value = out if isinstance(out, Tensor) else next(v for v in out if isinstance(v, Tensor))
        turned = value.shape[:2] == content.shape[1::-1] != content.shape[:2]
        kept.append((value.transpose(0, 1) if turned else value).detach().cpu())
        raise _Seen

    handle = probe.module.get_submodule(block).register_forward_hook(keep)
    try:
        probe(content, **arguments)
    except _Seen:
        pass
    finally:
        handle.remove()
    if not kept or kept[0].shape[:2] != content.shape[:2]:
        raise MissingEvidence(f"{block} gives no hidden state for each place")
    return kept[0], block


def _first_block(module: nn.Module) -> str:
    for path, part in module.named_modules():
        if isinstance(part, nn.ModuleList) and len(part) and any(p.numel() for p in part[0].parameters()):
            return f"{path}.0" if path else "0"
    raise MissingEvidence("no list of blocks in the model")
