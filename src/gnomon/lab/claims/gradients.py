"""Claims 14, 34 and 35: what gradients and the optimizer do to a table of positions."""

import copy
import warnings
from functools import partial
from typing import final

import torch
from torch import Tensor, nn
from torch.autograd import gradcheck
from torch.nn.functional import cross_entropy

from gnomon.encodings import Learned, Sinusoidal
from gnomon.lab.claims.base import Measured, Numbers, Said, claim, flag, percent, told
from gnomon.lab.claims.seeds import seeded
from gnomon.lab.claims.small import IGNORED, Rows, Tagger, fit, token_before
from gnomon.lab.experiments.context import Context

LENGTH, SYMBOLS, DIM = 12, 40, 32
FEW, MANY = 16, 1024  #: rows of training data
STARVED = 0.1  #: a position row that gets less than a tenth of what a word row gets is drowned


@claim(14, "2.2")
@final
class DrownedGradients(Measured):
    """Gradients of position rows and of word rows over all of a small and of a large set, before and after training."""

    statement = "With little data the gradient of position vectors drowns in that of the words."
    truth = "Plausible, and to be measured in each model: every row of text moves a position row, few move a word's."
    gnomon = "`PE501`; the [monitor](monitor.md) while training"

    def measure(self, context: Context) -> dict[str, float]:
        numbers = {}
        for name, count in (("few rows", FEW), ("many rows", MANY)):
            rows = token_before(LENGTH, symbols=SYMBOLS, rows=count)(context.generator("data"))
            with seeded(context):
                model = Tagger(SYMBOLS, SYMBOLS, Learned(LENGTH, DIM), dim=DIM, layers=1)
            numbers[f"{name}, at first"] = ratio(model, rows)
            fit(model, partial(_some, rows), context.generator("order"), steps=100)
            numbers[f"{name}, after 100 steps"] = ratio(model, rows)
        return numbers

    def judge(self, numbers: Numbers) -> Said:
        few, many = numbers["few rows, after 100 steps"], numbers["many rows, after 100 steps"]
        seen = (
            f"Gradient of a position row over that of a word row: {told(numbers['few rows, at first'])} with {FEW} "
            f"rows of data and {told(numbers['many rows, at first'])} with {MANY} at first, {told(few)} and "
            f"{told(many)} after 100 steps."
        )
        drowned = few.high < STARVED and few.high < many.low
        return Said("holds" if drowned else "fails" if few.low > STARVED else "depends", seen)


def ratio(model: Tagger, rows: Rows) -> float:
    """Root mean square of the gradient over the rows of the table, divided by that over the words in use."""
    probe = copy.deepcopy(model)
    ids, labels = rows
    cross_entropy(probe(ids).flatten(0, 1), labels.flatten(), ignore_index=IGNORED).backward()
    table = probe.encoder.encoding
    assert isinstance(table, Learned)
    words = probe.encoder.stack.embedding.words.weight.grad
    places = table.weight.grad
    assert words is not None
    assert places is not None
    return _rms(places) / _rms(words[ids.unique()])


def _rms(rows: Tensor) -> float:
    return float(rows.square().mean().sqrt())


def _some(rows: Rows, generator: torch.Generator) -> Rows:
    chosen = torch.randint(len(rows[0]), (16,), generator=generator)
    return rows[0][chosen], rows[1][chosen]


@claim(34, "5.2")
@final
class GradientCheck(Measured):
    """gradcheck on a learned table in both precisions, on one that is detached, and a plain backward pass."""

    statement = "torch.autograd.gradcheck shows whether a gradient reaches the position parameters."
    truth = (
        "It compares gradients with finite differences, so that it needs float64 and small inputs. Whether a gradient "
        "arrives is told by a plain backward pass."
    )
    gnomon = "`PE501`"

    def measure(self, context: Context) -> dict[str, float]:
        with seeded(context):
            table, x = torch.randn(5, 4), torch.randn(1, 5, 4)
        weight = table.clone().requires_grad_()
        _read(weight, x).backward()
        return {
            "passes in float32": checked(table, x, torch.float32),
            "passes in float64": checked(table, x, torch.float64),
            "passes when detached": checked(table, x, torch.float64, detached=True),
            "gradient of a backward pass": 0.0 if weight.grad is None else float(weight.grad.norm()),
        }

    def judge(self, numbers: Numbers) -> Said:
        single, double = numbers["passes in float32"].high, numbers["passes in float64"].low
        detached = numbers["passes when detached"].high
        seen = (
            f"On a healthy table gradcheck {_word(single)} in float32 and {_word(double)} in float64; on a detached "
            f"one it {_word(detached)}. A backward pass gives the table a gradient of norm "
            f"{told(numbers['gradient of a backward pass'])}."
        )
        if not double or detached:
            return Said("fails", seen)
        return Said("holds" if single else "depends", seen)


def checked(table: Tensor, x: Tensor, dtype: torch.dtype, *, detached: bool = False) -> float:
    """1 when gradcheck accepts the table in this dtype. Its warning about float32 is what is measured, and is quiet."""
    weight = table.to(dtype).requires_grad_()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return flag(
            gradcheck(
                lambda w: _read(w.detach() + 0 * w if detached else w, x.to(dtype)), (weight,), raise_exception=False
            )
        )


def _read(weight: Tensor, x: Tensor) -> Tensor:
    read: Tensor = (x + weight).softmax(-1).square().sum()
    return read


def _word(passed: float) -> str:
    return "passes" if passed else "fails"


@claim(35, "5.3")
@final
class TableAsParameter(Measured):
    """How far twenty steps of AdamW move a sinusoid table that is a parameter, one that is a buffer, and one "
    "derived."""

    statement = "Cache the sinusoid table in an nn.Parameter, so that it is not computed again at each call."
    truth = "Cache it, but a parameter is trained, decayed and counted by the optimizer; a fixed table is not one."
    gnomon = "derived tables are not parameters; `PE210`"

    def measure(self, context: Context) -> dict[str, float]:
        start = Sinusoidal(DIM).table(torch.arange(LENGTH))
        draw, generator = token_before(LENGTH, symbols=SYMBOLS), context.generator("rows")
        with seeded(context):
            kept = Learned(LENGTH, DIM)
            kept.weight.data.copy_(start)
            model = Tagger(SYMBOLS, SYMBOLS, kept, dim=DIM, layers=1)
            derived = Tagger(SYMBOLS, SYMBOLS, Sinusoidal(DIM), dim=DIM, layers=1)
        fit(model, draw, generator, steps=20)
        fit(derived, draw, generator, steps=20)
        after = derived.encoder.encoding
        assert isinstance(after, Sinusoidal)
        return {
            "parameter moved": float((kept.weight.detach() - start).abs().max()),
            "derived table moved": float((after.table(torch.arange(LENGTH)) - start).abs().max()),
            "decayed without a gradient": _decayed(start),
        }

    def judge(self, numbers: Numbers) -> Said:
        moved, derived = numbers["parameter moved"], numbers["derived table moved"]
        seen = (
            f"Twenty steps of AdamW move a table that is a parameter by up to {told(moved)} (its entries are at most "
            f"1), a derived one by {told(derived)}; weight decay alone shrinks it by "
            f"{percent(numbers['decayed without a gradient'])} in 100 steps at a rate of 0.01."
        )
        return Said("fails" if moved.low > 0 and not derived.high else "holds", seen)


def _decayed(start: Tensor) -> float:
    """How much smaller its norm is after 100 steps of weight decay 0.1 with a gradient of zero."""
    weight = nn.Parameter(start.clone())
    optimizer = torch.optim.AdamW([weight], lr=0.01, weight_decay=0.1)
    for _ in range(100):
        weight.grad = torch.zeros_like(weight)
        optimizer.step()
    return 1 - float(weight.detach().norm() / start.norm())
