"""Claim 3: positions taken out of a trained encoder."""

import math
from typing import final

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from gnomon.encodings import NoPE, Rotary
from gnomon.encodings.base import PositionEncoding
from gnomon.lab.claims.base import Measured, Numbers, Said, claim, told
from gnomon.lab.claims.seeds import seeded
from gnomon.lab.claims.small import IGNORED, Draw, Rows, Tagger, fit
from gnomon.lab.data.corpus import Corpus, load_corpus
from gnomon.lab.experiments.context import Context

BYTES, HIDDEN = 256, 256  #: the token that hides a byte has the id after the last byte
LENGTH, DIM, LAYERS, STEPS, ROWS = 64, 64, 2, 500, 32
SHARE = 0.15  #: of the bytes are hidden, as in BERT
WORSE = 1.5  #: a perplexity that is so many times higher is worse beyond doubt


@claim(3, "1")
@final
class PositionsDeleted(Measured):
    """Hidden bytes of Python's own sources, named by an encoder with positions, the same without, and one that never
    had any; and by the frequency of bytes alone."""

    trains = True
    statement = "A BERT whose position layer is deleted falls below random guessing."
    truth = (
        "The figures cannot be checked. A masked model without positions is far worse: perplexity 147 against 4 (Haviv "
        "et al. 2022, table 4)."
    )
    gnomon = "`PE302` finds such a model"
    private = "F1 of 88.7 that falls to 32.1 on SQuAD"

    def measure(self, context: Context) -> dict[str, float]:
        corpus = load_corpus("stdlib")
        test = hidden_bytes(corpus.test, rows=128)(context.generator("test"))
        models = {}
        for name, encoding in (("with positions", Rotary(DIM // 2)), ("never had", NoPE())):
            with seeded(context):
                models[name] = tagger(encoding)
            fit(models[name], hidden_bytes(corpus.train, rows=ROWS), context.generator("rows"), steps=STEPS)
        bare = tagger(NoPE())
        bare.load_state_dict(models["with positions"].state_dict())
        models["deleted"] = bare.eval()
        found = {name: perplexity(model, test) for name, model in models.items()}
        return {**found, "frequencies alone": guessing(corpus, test)}

    def judge(self, numbers: Numbers) -> Said:
        whole, deleted, never, guess = (
            numbers[name] for name in ("with positions", "deleted", "never had", "frequencies alone")
        )
        seen = (
            f"Perplexity of hidden bytes: {told(whole)} with positions, {told(deleted)} when they are taken out of the "
            f"trained model, {told(never)} when it never had any; {told(guess)} by the frequency of bytes alone."
        )
        if deleted.low > max(guess.high, whole.high * WORSE):
            return Said("holds", seen)
        return Said("depends" if deleted.low > whole.high * WORSE else "fails", seen)


def tagger(encoding: PositionEncoding) -> Tagger:
    return Tagger(BYTES + 1, BYTES, encoding, dim=DIM, layers=LAYERS)


def hidden_bytes(text: Tensor, *, rows: int) -> Draw:
    """Rows from random places with a share of the bytes hidden; the labels are the hidden ones."""

    def draw(generator: torch.Generator) -> Rows:
        starts = torch.randint(len(text) - LENGTH, (rows,), generator=generator)
        shown = text[starts[:, None] + torch.arange(LENGTH)].long()
        chosen = torch.rand(shown.shape, generator=generator) < SHARE
        return shown.masked_fill(chosen, HIDDEN), shown.masked_fill(~chosen, IGNORED)

    return draw


@torch.no_grad()
def perplexity(model: Tagger, rows: Rows) -> float:
    """Of the hidden bytes."""
    ids, labels = rows
    return math.exp(float(cross_entropy(model(ids).flatten(0, 1), labels.flatten(), ignore_index=IGNORED)))


def guessing(corpus: Corpus, rows: Rows) -> float:
    """The perplexity of the hidden bytes under how often each byte stands in the part to train on (one is added)."""
    counts = torch.bincount(corpus.train.int(), minlength=BYTES).double() + 1
    hidden = rows[1][rows[1] != IGNORED]
    return math.exp(-float((counts / counts.sum()).log()[hidden].mean()))
