"""PE211: positions are far louder or far quieter than words."""

import math
import re
from collections.abc import Iterator
from itertools import takewhile

import numpy as np
from jaxtyping import Float64

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.base import attempt
from gnomon.doctor.evidence.entry import entry
from gnomon.doctor.evidence.idle import starts_at_zero
from gnomon.doctor.evidence.tables import position_tables, word_table
from gnomon.report.document import Finding, Measured

OTHER_TOWER = re.compile(r"vis(ion|ual)|image|audio", re.IGNORECASE)
QUIETEST, LOUDEST = 0.01, 20.0
MOST_WORDS = 1000  # rows, evenly taken, whose size stands for the table's: a large table is never held whole
WHY = (
    "equal initialisation gives 1; sinusoids beside words of std 0.02 give 35; sinusoids / 512 beside std 1 give 0.0014"
)


@check("PE211", "norm-ratio", severity="warning", needs=(position_tables,))
def norm_ratio(subject: Subject) -> Iterator[Finding | Measured]:
    """The position vectors are far larger or far smaller than the word vectors they are added to.

    Why: the sum goes through a normalisation, so the smaller part is scaled away. A sinusoid table of width d has norm
    sqrt(d/2) (16 at d = 512, not sqrt(d)); word vectors drawn with std 0.02 have norm 0.02 sqrt(d). The original
    Transformer multiplies the words by sqrt(d) for this reason; dividing the positions by sqrt(d) is the same ratio.

    Fix: scale one side (words times sqrt(d), or sinusoids divided by sqrt(d)), or initialise a learned table with std
    0.02 like the words.

    Sources: Vaswani et al. 2017, section 3.4. Measured: 0.44 for the two tables of all-MiniLM-L6-v2.
    """
    if starts_at_zero(subject):
        raise MissingEvidence("the table of positions starts at zero and is not trained yet")
    ratio, how = _ratio(subject)
    yield Measured("size of positions / size of words (RMS)", ratio, f"{QUIETEST} to {LOUDEST}", WHY)
    if not QUIETEST <= ratio <= LOUDEST:
        loud = ratio > LOUDEST
        yield Finding(
            how,
            f"positions are {ratio:.3g} times the size of words" + (": words drown" if loud else ": order drowns"),
            "multiply the word embeddings by sqrt(d), or divide the positions by sqrt(d)"
            if loud
            else "initialise the position table like the words (std 0.02), or remove a scale of 1/d on the positions",
            {"ratio": ratio},
        )


def _ratio(subject: Subject) -> tuple[float, str]:
    """From the forward where there is one (it sees scales), else from the two tables."""
    if subject.has("module"):
        found = attempt(entry, subject)
        if found is not None and found.axis == "sequence" and found.coefficient is not None:
            return found.ratio, found.where
    info = word_table(subject)
    same_tower = [
        t for t in position_tables(subject) if not OTHER_TOWER.search(t.name) or OTHER_TOWER.search(info.name)
    ]
    if not same_tower:
        raise MissingEvidence("the tables of positions are those of images or sound, which no words are added to")
    table = max(same_tower, key=lambda t: _shared(t.name, info.name))
    table_of_words = subject.tensors.load(info.name)
    words = table_of_words[:: max(1, len(table_of_words) // MOST_WORDS)].double().numpy()
    used = table.used()
    scale = math.sqrt(info.shape[1]) if (attempt(lambda s: s.config, subject) or {}).get("scale_embedding") else 1.0
    ratio = _rms(used) / max(_rms(words), 1e-15) / scale
    if not math.isfinite(ratio):
        raise MissingEvidence("a table holds numbers that are not finite")
    return ratio, table.name


def _rms(table: Float64[np.ndarray, "rows dims"]) -> float:
    return float(np.linalg.norm(table)) / table.size**0.5 if table.size else math.nan  # no squared copy of the table


def _shared(one: str, other: str) -> int:
    """How many first parts of two dotted names agree: the decoder's words belong with the decoder's positions."""
    return sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one.split("."), other.split("."), strict=False))
    )
