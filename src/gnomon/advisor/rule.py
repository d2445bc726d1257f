"""Rules, and the registry that finds them: one file in `gnomon.advisor.rules` is one rule."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from gnomon.advisor.effects import Effect
from gnomon.advisor.facts import Facts
from gnomon.errors import GnomonError
from gnomon.registry import Registry

Stage = Literal["exclusions", "points", "options", "costs", "risks"]
STAGES: tuple[Stage, ...] = get_args(Stage)  #: the order in which rules are asked
Body = Callable[[Facts], Iterator[Effect]]

registry: Registry["Rule"] = Registry("rule", package="gnomon.advisor.rules")


@dataclass(frozen=True)
class Rule:
    """One rule: from facts to effects on the candidates. Its docstring says when it fires and what it does."""

    name: str
    stage: Stage
    source: str
    body: Body

    @property
    def doc(self) -> str:
        return inspect.cleandoc(self.body.__doc__ or "")

    @property
    def summary(self) -> str:
        """The first paragraph of the docstring on one line."""
        return " ".join(self.doc.split("\n\n")[0].split())


def rule(*, stage: Stage, source: str) -> Callable[[Body], Body]:
    """Register a function as a rule under its own name. `source`: the paper and table, or the sum, it stands on."""
    if stage not in STAGES:
        raise GnomonError(f"A rule's stage is one of {', '.join(STAGES)}, got {stage!r}.")

    def add(body: Body) -> Body:
        registry.register(body.__name__)(Rule(body.__name__, stage, source, body))
        return body

    return add


def rules_in_order() -> list[Rule]:
    """Every rule, by stage and then by name: a fixed order, so that one description has one answer."""
    return sorted((found for _, found in registry), key=lambda it: (STAGES.index(it.stage), it.name))
