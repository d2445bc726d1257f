"""The decision table of the article that gnomon grew from, beside what is advised here, and why they differ.

Its four rows and its default, in its own section 2.3: long and variable inputs, sinusoids with RoPE; absolute positions
and stable lengths, a learned table; relative positions, RoPE or ALiBi; little hardware, sinusoids; else sinusoids.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from gnomon.advisor.facts import Facts
from gnomon.advisor.task import Device, Need, Task
from gnomon.report.advice.document import Comparison, Recommendation

FAR = 2.0  #: inputs this many times the trained length are the article's "far beyond"


@dataclass(frozen=True)
class Row:
    """One row: what it is about, what the article recommends, the encodings that agree with it, and what is to be
    said.
    """

    title: str
    says: str
    encodings: tuple[str, ...]
    why: str


LONG = Row(
    "long and variable input",
    "sinusoids, with RoPE beside them",
    (),
    "A sinusoid can be computed for any position, but a model trained with it fails at once beyond its length: "
    "perplexity "
    "20.05 at 512 tokens, 43.54 at 1012 and 341.5 at 10512 (Press et al. 2022, table 2). Rotary encoding with a "
    "sinusoid "
    "beside it encodes position twice. Models of 2026 take rotary encoding with a base that fits the context, or "
    "leave it "
    "out in some layers, and train or extend at the long length; ALiBi holds perplexity far out, but finds "
    "little there.",
)
STABLE = Row(
    "absolute positions, stable lengths",
    "a learned table of the 95th percentile plus a tenth",
    ("learned", "randomized"),
    "The recipe for the length is right and is used here. That a table converges 10 to 15 percent faster has no public "
    "source, and matched runs show rotary encoding ahead: perplexity 15.78 against 16.59 after the same 55,000 steps "
    "(EleutherAI 2021). So the table is advised only where absolute positions are said to decide, training "
    "reaches the target, and there are examples enough for its last rows.",
)
RELATIVE = Row(
    "relative positions",
    "RoPE or ALiBi",
    ("rotary", "alibi"),
    "Both depend on differences of positions by construction. ALiBi's penalty falls with distance in every head, "
    "so no head "
    "can single out the token two back by position, and in its symmetric form it cannot tell left from right: within "
    "the trained length rotary comes first where relations between tokens are the task.",
)
EDGE = Row(
    "little hardware",
    "sinusoids, as they have no parameters and cost nothing",
    ("sinusoidal",),
    "Rotary encoding and ALiBi have no parameters either. Turning queries and keys takes 6 d of the 24 d^2 "
    "multiplications "
    "and additions of a layer, 1 part in 4 d: 0.05 percent at a width of 512. That is no price for the better "
    "encoding; "
    "the memory of a device goes to the cache of keys and values.",
)
DEFAULT = Row(
    "anything else",
    "sinusoids by default",
    ("sinusoidal",),
    "New models of 2026 take rotary encoding, a part of it, or layers without any. In matched runs sinusoids are "
    "behind at the trained length (12.93 against ALiBi's 12.51 at 1.3 billion parameters, Haviv et al. 2022, table 1) "
    "and fail beyond it.",
)


def compare(facts: Facts, best: Recommendation) -> tuple[Comparison, ...]:
    """The rows that a description of a new model meets, or the article's default; none for a checkpoint or a grid."""
    if facts.existing is not None or facts.axes > 1:
        return ()
    met = tuple(_met(facts)) or (DEFAULT,)
    return tuple(Comparison(it.title, it.says, best.name, best.encoding in it.encodings, it.why) for it in met)


def _met(facts: Facts) -> Iterator[Row]:
    if facts.stretch >= FAR or facts.unlimited:
        yield LONG
    elif facts.need is Need.ABSOLUTE or facts.task in (Task.TRANSLATION, Task.CLASSIFICATION):
        yield STABLE
    if facts.need is Need.RELATIVE:
        yield RELATIVE
    if facts.device is Device.EDGE:
        yield EDGE
