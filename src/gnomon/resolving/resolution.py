"""`resolve`: one file, read by every stack with its own rules, compared by effect and told in plain words."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from gnomon.report.resolved.document import Column, Resolution, labelled
from gnomon.resolving.asking import Asked, asked, one, pair_name
from gnomon.resolving.columns import Compared, column
from gnomon.resolving.given import Given
from gnomon.resolving.lengths import Lengths, lengths_for
from gnomon.resolving.lints import lints_of
from gnomon.resolving.loading import load
from gnomon.resolving.telling.causes import Reread, cause_of
from gnomon.resolving.telling.mending import mended
from gnomon.resolving.telling.rereading import ReaderBroke, reading_of, rereader
from gnomon.resolving.telling.spelling import spelling_alone
from gnomon.resolving.telling.summing import summary
from gnomon.resolving.telling.words import sentences

REFERENCE, GGUF_REFERENCE = "hf5", "llama.cpp"
NOT_OF_GGUF = ("hf5", "hf4")  #: not among the stacks that a GGUF file is shown for unless asked for


def resolve(
    target: str | Path | Mapping[str, Any] | Given,
    *,
    stacks: str | Iterable[str] | None = None,
    lengths: Iterable[int] = (),
    served: int | None = None,
    reference: str | None = None,
) -> Resolution:
    """What every stack would compute from one file, held against the reference.

    `target`: a config.json, a folder that holds one, a .gguf file, or a config as a mapping. `stacks`: names as in
    "vllm", "hf4@4.43" or "sglang@all", in a list or with commas; None for all in their newest versions. Compared at
    the trained length, one token past it, the longest that the file states, and `lengths`. `served`: what servers are
    started for (the largest of these). `reference`: "hf5", for a GGUF file "llama.cpp", unless another is named.

    Raises a GnomonError for a target that cannot be read, a stack or version that gnomon does not know, and lengths
    that are no numbers of tokens. A stack that would stop with an error is part of the answer.

    >>> found = resolve({"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4,
    ...                  "max_position_embeddings": 128}, stacks="hf5")
    >>> found.column("hf5").layers[0].base, found.lengths
    (10000.0, (128,))
    """
    given = load(target)
    held = one(reference or (REFERENCE if given.config is not None else GGUF_REFERENCE))
    compared_at = lengths_for(given, lengths, served)
    with np.errstate(all="ignore"):  # a file may hold any number; what is no number in the end is told as such
        first, *others = _compared(given, held, _others(given, stacks, held), compared_at)
        again = rereader(held, given, compared_at)  # one for all: each set of keys is taken from the reference once
        columns = (column(first, is_reference=True), *(_column(given, again, each) for each in others))
        spelling = spelling_alone(given, others)
    return Resolution(
        target=given.name,
        source="config" if given.config is not None else "gguf",
        reference=pair_name(held),
        lengths=compared_at.evaluated,
        served=compared_at.served,
        columns=columns,
        summary=(*given.notes, *summary(columns, compared_at, spelling)),
        lints=lints_of(given),
        gnomon=version("gnomon"),
    )


def _others(given: Given, stacks: str | Iterable[str] | None, reference: Asked) -> list[Asked]:
    pairs = asked(stacks)
    if stacks is None and given.config is None:
        pairs = [pair for pair in pairs if pair[0].name not in NOT_OF_GGUF]
    return [pair for pair in pairs if pair_name(pair) != pair_name(reference)]


def _compared(given: Given, held: Asked, others: list[Asked], lengths: Lengths) -> Iterator[Compared]:
    reference = reading_of(held, given, lengths)
    yield Compared(held, reference, reference, lengths)
    shown = [stack.name for stack, _ in (held, *others)]
    for pair in others:
        (stack, each), reading = pair, reading_of(pair, given, lengths)
        label = labelled(stack.name, each.name, newest=each is stack.versions[0], shown=shown)
        yield Compared(pair, reading, reference, lengths, label)


def _column(given: Given, reference: Reread, compared: Compared) -> Column:
    ours = rereader(compared.pair, given, compared.lengths)
    try:
        mend = mended(compared, given)
        cause = cause_of(compared, given, reference, ours) if compared.verdict == "differs" else None
    except ReaderBroke as fault:
        compared, mend, cause = replace(compared, reading=fault.reading), None, None
    return replace(column(compared), sentences=sentences(compared, cause, mend), mend=mend)
