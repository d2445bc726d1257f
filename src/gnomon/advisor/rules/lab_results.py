"""What gnomon's own lab measured."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Show
from gnomon.advisor.facts import Facts
from gnomon.advisor.measured import shipped
from gnomon.advisor.rule import rule
from gnomon.advisor.task import Task
from gnomon.report.advice.document import Evidence

TEXT = (Task.LANGUAGE_MODEL, Task.CODE)  #: what those models learn


@rule(stage="options", source="gnomon lab extrapolation and convergence, quick form; benchmarks/results/lab")
def lab_results(facts: Facts) -> Iterator[Effect]:
    """Small language models of gnomon's lab are shown as evidence for new language models, and move no points."""
    if facts.task not in TEXT or facts.checkpoint is not None:
        return
    for fact in shipped():
        if facts.stretch >= fact.least_stretch and fact.causal in (None, facts.causal):
            yield Show(fact.encoding, Evidence("lab result", fact.statement, fact.source))
