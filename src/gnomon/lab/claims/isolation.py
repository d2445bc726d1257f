"""Claim 33: the last of the article's five steps, a test that a model without positions passes."""

from typing import final

import torch

from gnomon.encodings import Learned, NoPE
from gnomon.encodings.base import PositionEncoding
from gnomon.lab.claims.base import Measured, Numbers, Said, claim, percent
from gnomon.lab.claims.seeds import seeded
from gnomon.lab.claims.small import Rows, Tagger, accuracy, fit
from gnomon.lab.experiments.context import Context

LENGTH, DIM, STEPS = 3, 16, 120
LABELS = torch.arange(LENGTH)[None]
DIFFERENT, REPEATED = torch.tensor([[0, 1, 2]]), torch.tensor([[0, 0, 0]])


def learnt(encoding: PositionEncoding, ids: torch.Tensor, context: Context) -> float:
    """How many of the three positions a model of one layer names after training on this one sequence."""

    def draw(generator: torch.Generator) -> Rows:
        return ids, LABELS

    model = Tagger(LENGTH, LENGTH, encoding, dim=DIM, layers=1)
    fit(model, draw, context.generator("rows"), steps=STEPS, rate=1e-2)
    return accuracy(model, (ids, LABELS))


@claim(33, "5.2")
@final
class IsolationTest(Measured):
    """One layer trained to name positions, with tokens that tell them and with one repeated token."""

    statement = (
        "Five steps find an encoding without effect; the last trains one layer on the tokens A, B, C with labels "
        "0, 1, 2: below 100% the encoding is at fault."
    )
    truth = (
        "The steps are right, but that test cannot fail: the token alone tells the label. It needs one repeated token "
        "or random ones, with chance and a model without positions beside it."
    )
    gnomon = "`PE306`, `PE201`, `PE202` and `PE203`, `PE501`, `PE502` (random tokens, chance and a control)"

    def measure(self, context: Context) -> dict[str, float]:
        with seeded(context):
            return {
                "no positions, A B C": learnt(NoPE(), DIFFERENT, context),
                "no positions, A A A": learnt(NoPE(), REPEATED, context),
                "positions, A A A": learnt(Learned(LENGTH, DIM), REPEATED, context),
            }

    def judge(self, numbers: Numbers) -> Said:
        blind, repeated, learned = (
            numbers[name] for name in ("no positions, A B C", "no positions, A A A", "positions, A A A")
        )
        seen = (
            f"On A, B, C a model without any positions reaches {percent(blind)}. On A, A, A it stays at "
            f"{percent(repeated)}, which is chance, and one with a learned table reaches {percent(learned)}."
        )
        return Said("fails" if blind.low == 1 else "holds", seen)
