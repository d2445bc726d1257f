"""How far a stack is off, in words: pairs, distances, logits, and at which lengths."""

import math
from typing import Any

import pytest

from gnomon.resolving.comparing import Difference
from gnomon.resolving.telling.effects import effects_in_words


def difference(length: int, kind: str = "all layers", **values: Any) -> Difference:
    return Difference(kind, length, **values)


OFF: dict[str, Any] = {"phase": 3.0, "relative": 0.5, "pair": 4, "relative_pair": 4, "visible_from": 7}
PLATEAU: dict[str, Any] = {**OFF, "relative_last": 9, "pairs": 12}


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ([difference(8), difference(9, **OFF), difference(64, **OFF)], "(only above 8 tokens)"),
        ([difference(8, **OFF), difference(9), difference(64)], "(only up to 8 tokens)"),
        ([difference(8), difference(9, **OFF), difference(64)], "(only at 9 tokens)"),
        ([difference(8, **OFF)], "3 rad apart at 8 tokens"),
        ([difference(8, **{**OFF, "visible_from": 90})], "not visible within 8 tokens"),
        ([difference(8, incomparable="8 of 8 columns turn")], "8 of 8 columns turn"),
        ([difference(8, layouts=True)], "rows of q and k lie in another layout"),
        ([difference(8, phase=3.0, relative=12.0)], "is 13 times as fast"),
        ([difference(8, **OFF)], "pair 4 is off by 50%, visible from a distance of 7 tokens, 3 rad apart at 8 tokens"),
        (
            [difference(8, **{**OFF, "pair": 0})],
            "pair 4 is off by 50%, pair 0 is visible from a distance of 7 tokens and 3 rad apart at 8 tokens",
        ),
        ([difference(8, **PLATEAU)], "pairs 4 to 9 are off by 50%, pair 4 visible from a distance of 7 tokens"),
        ([difference(8, **{**PLATEAU, "relative_pair": 0, "pairs": 10})], "all pairs are off by 50%, pair 4 visible"),
        ([difference(8, **{**OFF, "visible_from": 8})], "not visible within 8 tokens"),
        (
            [difference(8, logits=1.2, rest=1.0, partial=True)],
            "scores of the columns that turn are 20% larger",
        ),
        ([difference(8, logits=1.0, rest=0.5, partial=True)], "scores of the columns that do not turn are 50% smaller"),
        ([difference(8, logits=1.2, rest=1.2, partial=True)], "logits are 20% larger"),
        ([difference(8, phase=6.2, relative=0.5, visible_from=7)], "6.2 rad apart at 8 tokens"),
        ([difference(8, phase=11984.0, relative=0.5, visible_from=7)], "more than a turn apart at 8 tokens"),
        ([difference(8, logits=math.nan)], "logits are no numbers"),
        ([difference(8, logits=12.0)], "logits are 12 times as large"),
        ([difference(8, logits=0.9)], "logits are 10% smaller"),
        ([difference(8, logits=1.0), difference(64, logits=1.2)], "logits are 20% larger (only above 8 tokens)"),
    ],
)
def test_how_much_and_at_which_lengths(found: list[Difference], words: str) -> None:
    [text] = effects_in_words(found)
    assert words in text


def test_kinds_of_layers_that_differ_alike_stand_together() -> None:
    found = [difference(8, kind, **OFF) for kind in ("full", "chunked")]
    [text] = effects_in_words([*found, difference(8, "sliding")])
    assert text.startswith("in full and chunked: pair 4 is off")
