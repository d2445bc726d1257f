"""What a sequence leaves behind on a model: later sequences against the same ones on a copy that saw nothing before."""

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.base import attempt
from gnomon.doctor.evidence.calling import Model, model
from gnomon.doctor.evidence.decoding import Way, decoding
from gnomon.doctor.evidence.memories import forget
from gnomon.doctor.evidence.noise import difference
from gnomon.doctor.evidence.redraw import redraw

SHORT, LONG, LONGEST = 7, 48, 600  # tokens

Use = Callable[[Model], Any]


def earlier_uses(subject: Subject) -> dict[str, Use]:
    """What a model may have been used for before: by name, each a call on a copy of the probe."""
    probe = model(subject)
    way = attempt(decoding, subject)
    uses: dict[str, Use] = {"a longer sequence": _long}
    if way is not None:
        uses["a sequence fed through a cache"] = lambda other: _stepped(way, other, seed=83)
    if any(isinstance(value, Tensor) and name != probe.signature.content for name, value in subject.example.items()):
        uses["the example"] = lambda other: _example(other.module, subject.example)
    return uses


def left_behind(subject: Subject, use: Use) -> dict[str, float]:
    """How far one pass, and decoding, differ after `use` from a fresh copy."""
    probe = model(subject)
    way = attempt(decoding, subject)
    content = probe.draw(2, probe.length(SHORT), seed=84)
    later: dict[str, Callable[[Model], Tensor]] = {"one pass": lambda one: one(content)}
    if way is not None:
        later["decoding"] = lambda one: _stepped(way, one, seed=85)
    used = unused(subject)
    use(used)
    return {name: difference(run(unused(subject)), run(used)) for name, run in later.items()}


def unused(subject: Subject) -> Model:
    """The probe on a copy of its module that has seen no sequence: the probe itself has served other checks."""
    other = copy.copy(model(subject))
    other.module = copy.deepcopy(subject.module).eval()
    if not subject.trained:
        redraw(other.module)
    return other


def _long(other: Model) -> None:
    """As long as the model takes, beyond its stated limit where it grows."""
    limit = other.limit
    for length in (2 * limit + 1, limit):
        if length <= LONGEST:
            try:
                other(other.draw(1, length, seed=82))
            except MissingEvidence:
                continue
            return
    other(other.draw(1, other.length(LONG), seed=82))


def _stepped(way: Way, other: Model, seed: int) -> Tensor:
    """A short sequence fed in two steps after a prompt, on this very module."""
    length = other.length(SHORT)
    content = other.draw(2, length, seed=seed)
    forget(other.module)
    return way.fed(other, content, [length - 2, 1, 1], fresh=False)


def _example(module: nn.Module, example: dict[str, Any]) -> None:
    try:
        with torch.no_grad():
            module(**example)
    except (Exception, SystemExit) as error:
        raise MissingEvidence("the forward fails on its own example") from error
