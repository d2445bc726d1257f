"""Rotary checkpoints and a few tokens more."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Score
from gnomon.advisor.facts import Facts
from gnomon.advisor.published import table
from gnomon.advisor.rule import rule

GRACE = 100  #: tokens
SHARE = 0.2  #: of the trained length; the shortest that was measured is 512 tokens
REACH = table(
    "perplexity still falls for 200 tokens beyond a trained length of 512, and for 100 beyond 1024",
    "Press et al. 2022, arXiv:2108.12409, section 2",
)


def within_grace(facts: Facts) -> bool:
    """Whether the target is so little beyond the trained length that rotary encoding reaches it as it is."""
    return 0 < facts.target - facts.trained <= min(GRACE, SHARE * facts.trained)


@rule(stage="points", source="Press et al. 2022, arXiv:2108.12409: rotary reaches 100 to 200 tokens beyond its length")
def grace_zone(facts: Facts) -> Iterator[Effect]:
    """A rotary checkpoint stays as it is for up to 100 tokens, and a fifth, more than it was trained on."""
    if facts.turns and within_grace(facts):
        yield Score("keep", 6, f"rotary reaches the {facts.target - facts.trained} tokens more without a change", REACH)
