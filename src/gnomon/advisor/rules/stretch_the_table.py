"""Checkpoints with a learned table that is too short."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Score, Step
from gnomon.advisor.facts import Facts
from gnomon.advisor.published import arithmetic
from gnomon.advisor.rule import rule

FAR = 4.0


@rule(
    stage="points",
    source="arithmetic: new row p stands at p (L - 1) / (L' - 1) of the old table, between two trained rows",
)
def stretch_the_table(facts: Facts) -> Iterator[Effect]:
    """A learned table that is too short is resampled, up to four times its length; beyond, a switch to rotary is
    better where training is possible. Rows drawn anew would be noise.
    """
    if facts.existing != "learned" or facts.target <= facts.trained:
        return
    near = facts.stretch <= FAR
    between = (
        f"{facts.trained - 1} / {facts.target - 1} = {(facts.trained - 1) / (facts.target - 1):.4g} old "
        f"rows to a new one"
    )
    yield Score("interpolate", 4 if near else 1, "new rows stand between trained ones", arithmetic(between))
    yield Score("switch", 0 if near else 3, "a resampled table would blur neighbours at this factor")
    how = (
        f"resample the {facts.trained} rows to {facts.target} linearly: new row p is old row p x "
        f"{between.split(' = ')[0]}"
    )
    yield Step("interpolate", how)
    if facts.fine_tune:
        yield Step("interpolate", f"fine-tune at {facts.target} tokens, table included")
