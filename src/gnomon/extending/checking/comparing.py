"""`check`: both models over the same rows of a text."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float64

from gnomon.adapters import load_subject
from gnomon.adapters.tokenizers import read_text
from gnomon.errors import GnomonError
from gnomon.extending.checking.embedding import documents, short
from gnomon.extending.checking.measuring import Measured, Meter, Progress, Run, pace
from gnomon.extending.checking.noise import compare
from gnomon.extending.checking.opened import Opened, open_model, stated_length
from gnomon.extending.checking.planned import BUDGET, LAST, PASSKEYS, WINDOWS, Available, Wanted, planned
from gnomon.extending.checking.results import AtLength, Checked, Keys, Models, Position
from gnomon.extending.checking.scoring import Text
from gnomon.extending.checking.tokens import Tokens, ids_of, tokens_of

SAMPLE = 4000  #: characters on which two tokenizers are compared


def check(
    before: Any,
    after: Any,
    text: str | Path,
    *,
    lengths: Sequence[int] | None = None,
    last: int = LAST,
    windows: int = WINDOWS,
    passkeys: int = PASSKEYS,
    budget: int = BUDGET,
    seed: int = 0,
    tokenizer: Any = None,
    progress: Progress | None = None,
) -> Checked:
    """Measure a model and its extension on the text file `text`: folders, GGUF files, or modules with a `tokenizer`.

    Causal and masked models are scored on rows of each of `lengths`: by place in the row; in rows without overlap that
    hold `windows` tokens at least; and on the `last` tokens of the text (half of the old length at most), the same ones
    in all longer rows, with ever more before them. A masked model guesses 15% of the tokens, drawn by `seed`. Causal
    models are asked for `passkeys` keys in rows of the old length (or the longest one measured within it) and above.
    Encoders that give vectors alone are compared on short inputs, and on documents that their parts are to find.

    Without `lengths` they are taken from both configs: a short one, the old, the new, and one between, as far as the
    two models together read no more than `budget` tokens. One model is in memory at a time. `progress` is called with
    tokens read, tokens in all, and a sentence; the time left is told after the first rows.

    Raises GnomonError for a target, text or option that cannot be used, and where the two tokenizers differ.

    >>> import tempfile; from torch import nn, manual_seed
    >>> _ = manual_seed(0); model = nn.Sequential(nn.Embedding(256, 8), nn.Linear(8, 256))
    >>> with tempfile.NamedTemporaryFile(suffix=".txt") as file:
    ...     _ = file.write(b"A text of some length. " * 40), file.flush()
    ...     same = check(model, model, file.name, lengths=[64], last=16, tokenizer=lambda text: list(text.encode()))
    >>> same.worse, same.lengths[0].windows.difference
    (False, 0.0)
    """
    wanted = Wanted(None if lengths is None else tuple(lengths), last, windows, passkeys, budget, seed)
    tokens = tokens_of(before, tokenizer)
    words = Text.of(ids_of(tokens, text), seed)
    _same_tokens(tokens, after, tokenizer, text)
    new = stated_length(load_subject(after))
    model = open_model(before, tokens)
    there = Available(model.kind, model.length, new, len(words.ids), _special(model))
    run = Run(words, planned(wanted, there), wanted, there)
    meter = Meter(run.plan.tokens, progress)
    if progress is not None:
        meter.announce("the check of both models", *pace(model, words.ids[: min(run.plan.rows) - there.special]))
    first, name = run.measure(model, model.length, meter), model.name
    del model  # one in memory at a time
    model = open_model(after, tokens)
    if model.kind != there.kind:
        raise GnomonError(f"{name} is {there.kind} and {model.name} is {model.kind}; compare two of one kind.")
    second = run.measure(model, None if model.kind != "encoder" else new, meter)
    models = Models(*_told_apart(name, model.name), there.kind, there.old, new)
    return _checked(models, run, first, second, meter)


def _checked(models: Models, run: Run, first: Measured, second: Measured, meter: Meter) -> Checked:
    longest = max(run.plan.rows)
    last = min(run.wanted.last, (min(models.old or longest, longest) - run.there.special) // 2)
    lengths = [] if models.kind == "encoder" else list(run.plan.rows)
    keys = [n for n in lengths if n in first.keys or n in second.keys]
    return Checked(
        models,
        last,
        tuple(_at(length, last, models, first, second) for length in lengths),
        tuple(Keys(n, first.keys.get(n), second.keys.get(n)) for n in keys),
        tuple(documents(n, first.documents[n], second.documents[n], models.old) for n in first.documents),
        tuple(short(n, first.short[n], second.short[n]) for n in sorted(first.short)),
        run.plan.left_out,
        meter.read,
        meter.seconds,
    )


def _at(length: int, last: int, models: Models, first: Measured, second: Measured) -> AtLength:
    one, two = first.losses.get(length), second.losses.get(length)
    ends = [None if losses is None or losses.shape[1] <= last else losses[-1:, -last:] for losses in (one, two)]
    own = [n for n, losses in first.losses.items() if models.within(n) and n < length and losses.shape[1] > last]
    gain = None
    if own and not models.within(length):
        gain = compare(first.losses[max(own)][-1:, -last:], ends[1])
    positions = _positions(one, two) if models.kind == "causal" else ()
    why = "; ".join(found.why[length] for found in (first, second) if length in found.why)
    shape = next((losses.shape for losses in (one, two) if losses is not None), (0, 0))
    return AtLength(length, shape[0], compare(one, two), compare(*ends), gain, positions, why)


def _positions(
    one: Float64[np.ndarray, "rows places"] | None, two: Float64[np.ndarray, "rows places"] | None
) -> tuple[Position, ...]:
    """Runs of places that double in width, to the end of the row."""
    width = next((losses.shape[1] for losses in (one, two) if losses is not None), 0)
    edges = [0, *(1 << i for i in range(3, 31) if 1 << i < width), width]
    return tuple(
        Position(start, stop, *(_mean(losses, start, stop) for losses in (one, two)))
        for start, stop in pairwise(edges)
        if stop > start
    )


def _mean(losses: Float64[np.ndarray, "rows places"] | None, start: int, stop: int) -> float | None:
    part = np.array([]) if losses is None else losses[:, start:stop]
    part = part[~np.isnan(part)]
    return float(part.mean()) if part.size else None


def _special(model: Opened) -> int:
    """Special tokens of a row: a causal model gets no end of a text, for the text goes on."""
    return len(model.tokens.prefix) if model.kind == "causal" else model.tokens.special


def _same_tokens(tokens: Tokens, after: Any, tokenizer: Any, text: str | Path) -> None:
    if tokenizer is None:
        sample = read_text(text)[:SAMPLE]
        if tokens_of(after).encode(sample) != tokens.encode(sample):
            raise GnomonError(
                f"The tokenizer of {after} splits the text in another way; compare models of one tokenizer."
            )


def _told_apart(before: str, after: str) -> tuple[str, str]:
    return (before, after) if before != after else (f"{before} before", f"{after} after")
