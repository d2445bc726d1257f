"""PE505: the optimizer does not hold a learned table or bias of positions, or does not move it."""

from collections.abc import Iterator, Mapping
from typing import Any

from gnomon.adapters.subject import Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.optimizing import Held, Optimizing, optimizing
from gnomon.report.document import Finding, Measured


@check("PE505", "positions-not-optimized", severity="error", needs=(optimizing,))
def positions_not_optimized(subject: Subject) -> Iterator[Finding | Measured]:
    """A parameter that carries positions asks for gradients, but no optimizer moves it, or two do.

    Why: code that sorts parameters into groups by the kind of their module or by name leaves out a bare nn.Parameter;
    an optimizer made before the table was replaced (resized, interpolated, moved to the meta device and back) holds the
    old one. Gradients are computed, the loss falls, and the table keeps its first values.

    Fix: make the optimizer from model.parameters() after the last change to the model, and compare the number of
    parameters in all groups with the number of those that ask for a gradient.

    Sources: torch documentation of optimizers ("construct optimizers after moving or replacing parameters").
    """
    found = optimizing(subject)
    yield Measured("trainable parameters in the optimizer", found.parameters_held, found.parameters, "all of them")
    if not found.parameters_held:
        yield Finding(
            "the optimizer",
            f"it holds none of the model's {found.parameters} trainable parameters: it was made for another copy",
            "make it from the parameters of the model that is trained",
            {"parameters": found.parameters, "held": 0},
        )
        return
    for held in found.held:
        if held.trainable:
            yield Measured(f"groups that hold {held.name}", len(held.groups), 1, "once each")
            yield from _judged(held, found)


def _judged(held: Held, found: Optimizing) -> Iterator[Finding]:
    if not held.groups:
        why = (
            ": it holds another tensor of its shape, so the table was replaced after the optimizer was made"
            if held.replaced
            else f", though {found.parameters_held} of {found.parameters} other parameters are in it"
        )
        fix = (
            "make the optimizer after the last change to the model"
            if held.replaced
            else f"add {held.name} to a parameter group (without weight decay), or set requires_grad to False"
        )
        yield Finding(held.name, f"no optimizer holds it{why}", fix, {"groups": 0})
    elif len(held.groups) > 1:
        yield Finding(
            held.name,
            f"{len(held.groups)} parameter groups hold it: each step moves it {len(held.groups)} times",
            "put each parameter into one group of one optimizer",
            {"groups": len(held.groups)},
        )
    elif _still(held.groups[0]) and any(found.rates):
        yield Finding(
            held.name,
            f"its group has lr 0 while other groups have up to {max(found.rates):.2g}: it never moves",
            "give the group a learning rate, or set requires_grad to False when the table is to stay",
            {"lr": 0.0, "other lr": max(found.rates)},
            severity="warning",
        )


def _still(group: Mapping[str, Any]) -> bool:
    return float(group.get("lr", 1.0)) == 0.0
