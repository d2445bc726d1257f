"""Tasks in which single tokens must be found again far back."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Score
from gnomon.advisor.facts import Facts
from gnomon.advisor.published import NEEDLES
from gnomon.advisor.rule import rule


@rule(stage="points", source="DroPE, Gelberg et al. 2025, arXiv:2512.12167, needles; Press et al. 2022, appendix B")
def far_recall(facts: Facts) -> Iterator[Effect]:
    """Where facts must be found far back (long contexts, code, summaries), penalties for distance lose: they keep
    perplexity low by looking near. Rotary gains, since it can be extended afterwards.
    """
    if facts.task is not None and facts.task.recalls and facts.existing is None:
        for encoding in ("alibi", "kerple"):
            yield Score(encoding, -3, "its penalty hides what stands far back", NEEDLES)
        yield Score("nope", 1, "it finds some far tokens as it is", NEEDLES)
        yield Score("rotary", 1, "it finds far tokens once it is extended", NEEDLES)
