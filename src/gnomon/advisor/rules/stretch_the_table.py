"""Checkpoints with a learned table that is too short."""

import math
from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Score, Step
from gnomon.advisor.facts import Facts
from gnomon.advisor.published import VISION, arithmetic
from gnomon.advisor.rule import rule
from gnomon.report.reading import plural

FAR = 4.0
OTHERS = 5  #: tokens that stand beside the patches of an image, at most: a class token and four more


@rule(
    stage="points",
    source="arithmetic: new row p stands at p (L - 1) / (L' - 1) of the old table, between two trained rows; on grids "
    "Heo et al. 2024, arXiv:2403.13298",
)
def stretch_the_table(facts: Facts) -> Iterator[Effect]:
    """A learned table that is too short is resampled, up to four times its length; beyond, a switch to rotary is
    better where training is possible. Rows drawn anew would be noise. The table of an image is resampled along its rows
    and columns, never as one line.
    """
    if facts.existing != "learned" or facts.target <= facts.trained:
        return
    if facts.axes > 1:
        yield Score("interpolate", 4, "new rows stand between trained ones of the grid", VISION)
        yield Step("interpolate", _on_a_grid(facts.trained, facts.target))
    else:
        yield from _on_a_line(facts)
    if facts.fine_tune:
        yield Step("interpolate", f"fine-tune at {facts.target} tokens, table included")
    elif facts.axes == 1:
        yield Step("interpolate", "measure it before it is used: no public comparison has it without further training")


def _on_a_line(facts: Facts) -> Iterator[Effect]:
    near = facts.stretch <= FAR
    share = f"{facts.trained - 1} / {facts.target - 1}"
    told = f"{share} = {(facts.trained - 1) / (facts.target - 1):.4g} old rows to a new one"
    yield Score("interpolate", 4 if near else 1, "new rows stand between trained ones", arithmetic(told))
    yield Score("switch", 0 if near else 3, "a resampled table would blur neighbours at this factor")
    how = f"resample the {facts.trained} rows to {facts.target} linearly: new row p is old row p x {share}"
    yield Step("interpolate", how)


def _on_a_grid(trained: int, target: int) -> str:
    """What to do with the rows of patches, and with those that are no patches."""
    side, new = math.isqrt(trained), math.isqrt(target)
    others = trained - side**2
    if others != target - new**2 or others > OTHERS:
        return (
            "resample the rows of the patches along both axes of the grid, as a picture, and never as one line; keep "
            "those of other tokens"
        )
    kept = f"; keep {plural(others, 'other row')}" if others else ""
    return (
        f"resample the {side**2} rows of the patches as a picture, from {side} x {side} to {new} x {new}, and never as "
        f"one line{kept}"
    )
