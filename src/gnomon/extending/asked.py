"""What a user asks of an extension."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from gnomon.extending.rotary.methods.longrope import Lists

if TYPE_CHECKING:
    from gnomon.extending.tables.options import Options


@final
@dataclass(frozen=True)
class Asked:
    """`to`: tokens, or (height, width) of an image model's grid. `original`: the trained length, where the config lies.

    `lists`: divisors of LongRoPE from a search. `tables`: what the ways for tables leave open; `optimizer`: its moments
    are stretched too. `gguf`: GGUF files of the folder are extended too. `stacks`: the engines that are asked what they
    make of the result, named as for `gnomon.resolve`; None for all.
    """

    to: int | tuple[int, int]
    method: str = "auto"
    original: int | None = None
    lists: Lists | None = None
    tables: "Options | None" = None
    optimizer: bool = False
    gguf: bool = False
    stacks: str | None = None
