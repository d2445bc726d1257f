"""Claims 11, 12 and 17: sizes of a learned table."""

import math
from collections.abc import Callable
from typing import final

import torch
from torch import nn

from gnomon.encodings import Learned, Sinusoidal
from gnomon.errors import PositionError, ShapeError
from gnomon.lab.claims.base import Measured, Numbers, Said, claim, flag, percent, told
from gnomon.lab.claims.seeds import seeded
from gnomon.lab.experiments.context import Context
from gnomon.models import EmbeddingOptions, Encoder, ModelOptions


def raises(kind: type[BaseException], call: Callable[[], object]) -> float:
    """1 when the call raises this kind of error."""
    try:
        call()
    except kind:
        return 1.0
    except (RuntimeError, ValueError, IndexError):
        return 0.0
    return 0.0


@claim(11, "2.2")
@final
class TableRecipe(Measured):
    """The recipe for the length on drawn lengths, and how large the entries of the one line are at the start."""

    statement = (
        "A learned table is one line, nn.Embedding(max_len, d); start it with standard deviation 0.02, and take the "
        "95th percentile of the lengths plus 10% as its length."
    )
    truth = "A usable recipe (0.02 is BERT's). The one line alone starts with standard deviation 1."
    gnomon = "`Learned(max_length, dim, init_std=0.02)`; `gnomon advise --lengths FILE` computes the length"

    def measure(self, context: Context) -> dict[str, float]:
        lengths = (6 + 0.5 * torch.randn(20_000, generator=context.generator("lengths"))).exp().ceil()
        rows = math.ceil(1.1 * float(lengths.quantile(0.95)))
        with seeded(context):
            line, table = nn.Embedding(1024, 256).weight, Learned(1024, 256).weight
        return {
            "texts that fit": float((lengths <= rows).float().mean()),
            "rows / longest": rows / float(lengths.max()),
            "std of the line": float(line.detach().std()),
            "std of Learned": float(table.detach().std()),
        }

    def judge(self, numbers: Numbers) -> Said:
        fit, line = numbers["texts that fit"], numbers["std of the line"]
        seen = (
            f"Of 20,000 drawn lengths (log-normal) {percent(fit)} fit, with {percent(numbers['rows / longest'])} of "
            f"the rows that the longest needs. nn.Embedding starts at standard deviation {line.mean:.3g}, Learned at "
            f"{numbers['std of Learned'].mean:.2g}."
        )
        return Said("holds" if fit.low >= 0.95 else "fails", seen)


@claim(12, "2.2")
@final
class PastTheTable(Measured):
    """What is raised for the row after the last."""

    seeded = False
    statement = "A text longer than the table ends in an out-of-memory error, as the layer loads a row it lacks."
    truth = "It is an index error: no memory is asked for. On a GPU it is a device-side assert."
    gnomon = "`PositionError` naming position and limit, before any kernel; `PE104`, `PE204`"

    def measure(self, context: Context) -> dict[str, float]:
        ids = torch.arange(1500)[None]
        plain, ours = nn.Embedding(1024, 8), Learned(1024, 8)
        return {
            "index error": raises(IndexError, lambda: plain(ids)),
            "memory error": raises(MemoryError, lambda: plain(ids)),
            "PositionError": raises(PositionError, lambda: ours.embed(torch.zeros(1, 1500, 8), ids)),
        }

    def judge(self, numbers: Numbers) -> Said:
        index, memory = bool(numbers["index error"].mean), bool(numbers["memory error"].mean)
        raised = "an index error" if index else "an out-of-memory error" if memory else "no index error"
        ours = (
            "gnomon's table names the position and the limit" if numbers["PositionError"].mean else "gnomon is silent"
        )
        seen = f"1500 positions in a table of 1024 rows raise {raised} on the CPU; {ours}."
        return Said("fails" if index and not memory else "holds", seen)


@claim(17, "3.2")
@final
class Widths(Measured):
    """Widths that do not fit, a width that is projected, and what is raised."""

    seeded = False
    statement = "The position table must be as wide as the model; where embeddings are narrower, it follows the model."
    truth = "True; factorised embeddings are projected to the model's width first (ALBERT: Lan et al. 2020)."
    gnomon = "`ShapeError` that names both widths; `EmbeddingOptions(width=)`; `PE201`"

    def measure(self, context: Context) -> dict[str, float]:
        words, ids = torch.zeros(1, 4, 768), torch.arange(4)[None]
        narrow = ModelOptions(50, 32, 1, 2, embedding=EmbeddingOptions(width=8))
        return {
            "512 onto 768 refused": raises(RuntimeError, lambda: words + torch.zeros(1, 4, 512)),
            "refused with both widths": raises(ShapeError, lambda: Sinusoidal(512).embed(words, ids)),
            "8 projected to 32 works": flag(Encoder(narrow, encoding=Sinusoidal(32))(ids).shape == (1, 4, 32)),
        }

    def judge(self, numbers: Numbers) -> Said:
        every = all(spread.mean for spread in numbers.values())
        seen = (
            "Adding 512 columns to 768 is refused, and a table of the model's 32 columns fits embeddings that are 8 "
            "wide and projected."
            if every
            else "Not all of it is so: "
            + ", ".join(f"{name}: {told(number)}" for name, number in numbers.items())
            + "."
        )
        return Said("holds" if every else "fails", seen)
