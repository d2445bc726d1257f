"""`search`: lists are tried on one part of a text; the best one and the plain methods are compared on another part."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
from jaxtyping import Float64

from gnomon.encodings.frequencies.longrope import LongRoPE
from gnomon.errors import GnomonError
from gnomon.extending.checking.measuring import Meter, Progress, pace
from gnomon.extending.checking.noise import compare
from gnomon.extending.checking.opened import Opened, open_model
from gnomon.extending.checking.scoring import Text, losses
from gnomon.extending.checking.tokens import Tokens, ids_of, tokens_of
from gnomon.extending.searching.evolving import Factors, evolve
from gnomon.extending.searching.results import Cost, Lengths, Searched
from gnomon.extending.searching.rotary import Rotary, rotary_of, turned
from gnomon.extending.searching.starts import Method, methods

FEWEST = 4  #: evaluations: the three starts and something new
Losses = Float64[np.ndarray, "rows places"]


def search(
    source: Any,
    text: str | Path,
    *,
    to: int,
    budget: int = 24,
    seed: int = 0,
    length: int | None = None,
    rows: int = 1,
    original: int | None = None,
    tokenizer: Any = None,
    progress: Progress | None = None,
) -> Searched:
    """Search one factor for each pair of a rotary model, so that it reads rows of `to` tokens well (LongRoPE).

    The loss of a list is that of `rows` rows of `length` tokens (None: `to`) of the text file. `budget` lists are
    tried, each costs `rows` x `length` tokens; five more evaluations, on as many rows that the search has not seen,
    compare the best list with the plain methods. The first lists are linear, NTK-aware and YaRN. `original` is the
    trained length where the config does not tell it. The model is a folder, a GGUF file, or a transformers model with
    a `tokenizer`, of which a copy is run.

    Raises GnomonError for a model without a rotary part that can be set, a text that is too short, or lengths that do
    not exceed the trained one.

    >>> import tempfile; from transformers import LlamaConfig, LlamaForCausalLM
    >>> sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
    >>> model = LlamaForCausalLM(LlamaConfig(vocab_size=256, max_position_embeddings=16, **sizes))
    >>> with tempfile.NamedTemporaryFile(suffix=".txt") as file:
    ...     _ = file.write(b"A text of some length. " * 10), file.flush()
    ...     found = search(model, file.name, to=32, budget=6, tokenizer=lambda text: list(text.encode()))
    >>> len(found.long_factor), found.cost.evaluations, found.cost.tokens, found.better
    (4, 11, 352, False)
    """
    tokens = tokens_of(source, tokenizer)
    model = open_model(source, tokens)
    if model.kind != "causal":
        raise GnomonError(f"Factors are searched by the loss of next tokens; {model.name} is {model.kind}.")
    rotary = rotary_of(model.module, original)
    lengths = Lengths(rotary.original, _longer(to, "to", rotary), _longer(length or to, "length", rotary))
    _require(budget=(budget, FEWEST), rows=(rows, 1), seed=(seed, 0))
    ids = ids_of(tokens, text, fewest=needed(tokens, rows, lengths.measured))
    meter = Meter((budget + 5) * rows * lengths.measured, progress)
    if progress is not None:
        meter.announce("the search", *pace(model, np.asarray(ids[: rotary.original])))
    return _Search(model, Text.of(ids, seed), rotary, lengths, meter, rows).run(budget, seed)


def needed(tokens: Tokens, rows: int, length: int) -> int:
    """Tokens of a text that a search reads: rows to try lists on, and as many that it has not seen."""
    return 2 * rows * (length - len(tokens.prefix))


@final
@dataclass(frozen=True)
class _Search:
    model: Opened
    text: Text
    rotary: Rotary
    lengths: Lengths
    meter: Meter
    rows: int

    def run(self, budget: int, seed: int) -> Searched:
        rotary, scale = self.rotary, self.lengths.to / self.rotary.original
        plain = methods(rotary.base, rotary.dim, rotary.original, scale)
        own = LongRoPE([1.0], [1.0], rotary.original, factor=scale).attention_factor
        room = self.lengths.measured - len(self.model.tokens.prefix)
        whole = self.text.rows(room, 2 * self.rows)
        seen, unseen = whole[: self.rows], whole[self.rows :]

        def loss(factors: Factors) -> float:
            return _mean(self._losses(Method("list", factors, own), seen))

        starts = [method.divisors for method in plain if method.name != "unscaled"]
        tried = evolve(loss, starts, scale=scale, budget=budget, seed=seed)
        best = min(tried, key=lambda one: one.loss)
        known = {method.name: self._losses(method, unseen) for method in plain}
        found = self._losses(Method("the list found", np.array(best.factors), own), unseen)
        baselines = {name: _mean(each) for name, each in known.items()}
        return Searched(
            best.factors,
            tuple(rotary.current.round(6).tolist()),
            own,
            self.lengths,
            tuple(one.loss for one in tried),
            baselines,
            compare(known[min(baselines, key=lambda name: baselines[name])], found),
            Cost(len(tried) + len(plain) + 1, self.meter.read, seed, self.meter.seconds),
        )

    def _losses(self, method: Method, rows: list[slice]) -> Losses:
        self.meter.tell(f"{method.name} on {len(rows)} x {self.lengths.measured} tokens")
        with turned(self.rotary, self.rotary.plain / method.divisors, method.attention_factor):
            found = np.stack([losses(self.model, self.text, row) for row in rows])
        self.meter.add(len(rows) * self.lengths.measured)
        return found


def _mean(losses: Losses) -> float:
    return float(np.nanmean(losses))


def _longer(length: int, name: str, rotary: Rotary) -> int:
    if not isinstance(length, int) or length <= rotary.original:
        raise GnomonError(
            f"The model was trained on {rotary.original} tokens; give {name} as a whole number above, got {length!r}."
        )
    return length


def _require(**given: tuple[int, int]) -> None:
    for name, (value, least) in given.items():
        if not isinstance(value, int) or value < least:
            raise GnomonError(f"A search needs {name} of {least} or more, got {value!r}.")
