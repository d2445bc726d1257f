"""The position jumps after the first decoded token: the loop adds the prompt to an offset that counts it already.

After a prompt of six the calls run at 6, 12, 13; right are 6, 7, 8. The forward itself is right.
"""

from pathlib import Path
from typing import Any

from tests.gallery.item import Fault
from tests.helpers.gallery_caches import Generating
from tests.helpers.gallery_decoding import tokens


class AdvancesTwice(Generating):
    def advance(self, offset: int, prompt: int) -> int:
        return offset + prompt if offset <= prompt else offset + 1


def faulty(_: Path) -> Any:
    return tokens(AdvancesTwice())


def healthy(_: Path) -> Any:
    return tokens(Generating())


ITEM = Fault(
    source="skyzh/tiny-llm#46",
    check="PE411",
    where="generate",
    right=r"its calls use positions 6, 12, 13, not positions 6, 7, 8",
    build=faulty,
    healthy=healthy,
)
