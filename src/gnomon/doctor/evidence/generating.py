"""A model's own `generate`, against taking the most likely token of one pass after another."""

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, final

import torch
from torch import Tensor

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.adapters.wording import said
from gnomon.doctor.evidence.again import unused
from gnomon.doctor.evidence.base import evidence
from gnomon.doctor.evidence.calling import Model, model
from gnomon.doctor.evidence.order import causality
from gnomon.doctor.evidence.places import Source, positions_said, sources, watched

PROMPT, NEW = 6, 4  # tokens
COUNT = ("max_new_tokens", "steps", "num_tokens", "max_tokens", "n_tokens", "new_tokens", "num_steps", "n")
TOTAL = ("max_length", "max_len", "total_len", "length", "seq_len")
#: what makes each of them greedy, where generate has it
GREEDY: Mapping[str, Any] = {"do_sample": False, "top_k": 1, "greedy": True, "sample": False, "num_beams": 1}


@final
@dataclass(frozen=True)
class Generation:
    """Tokens (B, NEW) by `generate` and by one pass after another, how clear each choice was, and positions used."""

    generated: Tensor
    expected: Tensor
    margins: Tensor  #: (B, NEW) first logit less the second, relative to the largest
    calls: tuple[tuple[int, ...], ...]  #: positions of each call of the forward, where they were seen


@evidence
def generation(subject: Subject) -> Generation:
    """Runs `generate` on a copy that has generated once before, without sampling."""
    probe = model(subject)
    if not hasattr(probe.module, "generate"):
        raise MissingEvidence("the model has no method generate")
    if not probe.takes_ids or probe.signature.content.startswith("decoder_"):
        raise MissingEvidence("generation starts from something else than token ids alone")
    if not causality(subject).causal:
        raise MissingEvidence("the model looks both ways; it does not generate")
    if probe.length(PROMPT + NEW) < PROMPT + NEW:
        raise MissingEvidence(f"the model takes {probe.limit} tokens, too few to generate {NEW}")
    used, found = _plain(unused(subject)), _sources(probe)
    first, prompt = probe.draw(1, PROMPT + 1, seed=131), probe.draw(2, PROMPT, seed=132)
    given = _spelling(subject, prompt)
    _generate(used, first, given)
    with _listening(used, found) as calls:
        generated = _generate(used, prompt, given)
    expected, margins = _one_by_one(probe, prompt)
    return Generation(generated, expected, margins, tuple(calls))


def _plain(probe: Model) -> Model:
    """Without what a checkpoint's generation_config adds to the choice: penalties, forced tokens, temperature."""
    config = getattr(probe.module, "generation_config", None)
    if config is not None:
        probe.module.generation_config = type(config)()
    return probe


def _sources(probe: Model) -> list[Source]:
    content = probe.draw(1, PROMPT, seed=132)
    return sources(watched(probe.module, lambda: probe(content)), PROMPT)


def _one_by_one(probe: Model, prompt: Tensor) -> tuple[Tensor, Tensor]:
    """The most likely token after each pass over all tokens so far, and how clearly it leads."""
    tokens, margins = prompt, []
    for _ in range(NEW):
        logits = probe(tokens)[:, -1].float()
        best = logits.topk(2, dim=-1)
        margins.append((best.values[:, 0] - best.values[:, 1]) / logits.abs().max())
        tokens = torch.cat((tokens, best.indices[:, :1]), dim=1)
    return tokens[:, prompt.shape[1] :], torch.stack(margins, dim=1)


def _spelling(subject: Subject, prompt: Tensor) -> dict[str, Any]:
    """The arguments with which generate runs on fresh copies of the model, and gives the same whatever is drawn."""
    failure = MissingEvidence("generate was not run")
    for given in _spellings(model(subject), prompt):
        try:
            runs = [_generate(_plain(unused(subject)), prompt, given, seed) for seed in (1, 2)]
        except MissingEvidence as reason:
            failure = reason
            continue
        if not torch.equal(*runs):
            raise MissingEvidence("generate draws tokens at random, and no argument is known that stops it")
        return given
    raise failure


def _generate(probe: Model, prompt: Tensor, given: dict[str, Any], seed: int = 1) -> Tensor:
    """NEW tokens after the prompt, on this very module."""
    if "attention_mask" in given:
        given = {**given, "attention_mask": torch.ones_like(prompt)}
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(seed)
        try:
            return _new_tokens(probe.module.generate(prompt, **given), prompt)  # type: ignore[operator]
        except (Exception, SystemExit) as error:
            raise MissingEvidence(f"generate fails on {tuple(prompt.shape)} token ids: {said(error)}") from error


def _spellings(probe: Model, prompt: Tensor) -> Iterator[dict[str, Any]]:
    parameters = inspect.signature(probe.module.generate).parameters  # type: ignore[arg-type]
    greedy = {name: value for name, value in GREEDY.items() if name in parameters}
    count = next((name for name in COUNT if name in parameters), None)
    total = next((name for name in TOTAL if name in parameters), None)
    if "generation_config" in parameters:  # Hugging Face
        yield {
            "max_new_tokens": NEW,
            "min_new_tokens": NEW,
            "do_sample": False,
            "num_beams": 1,
            "pad_token_id": 0,
            "use_cache": True,
            "attention_mask": torch.ones_like(prompt),
        }
    elif count is not None:
        yield {count: NEW, **greedy}
    elif total is not None:
        yield {total: prompt.shape[1] + NEW, **greedy}
    else:
        raise MissingEvidence("generate has no argument for the number of new tokens that is known here")


def _new_tokens(result: Any, prompt: Tensor) -> Tensor:
    tokens = getattr(result, "sequences", result)
    tokens = tokens[0] if isinstance(tokens, tuple) else tokens
    if not isinstance(tokens, Tensor) or tokens.ndim != 2 or tokens.is_floating_point():
        raise TypeError("generate returned no token ids (batch, sequence)")
    whole = tokens.shape[1] == prompt.shape[1] + NEW and torch.equal(tokens[:, : prompt.shape[1]], prompt)
    tokens = tokens[:, prompt.shape[1] :] if whole else tokens
    if tokens.shape != (prompt.shape[0], NEW):
        raise TypeError(f"generate returned {tuple(tokens.shape)} tokens for {NEW} new ones")
    return tokens


class _listening:  # noqa: N801 - reads as a word in a with statement
    """Reads the positions of each call of a probe's forward; the module is a copy, and is left as it was."""

    def __init__(self, probe: Model, found: list[Source]) -> None:
        self.module, self.found = probe.module, found
        self.calls: list[tuple[int, ...]] = []

    def __enter__(self) -> list[tuple[int, ...]]:
        self.module.forward = self._wrapped(self.module.forward)
        return self.calls

    def __exit__(self, *_: object) -> None:
        del self.module.forward

    def _wrapped(self, forward: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(forward)
        def call(*args: Any, **kwargs: Any) -> Any:
            results: list[Any] = []
            seen = watched(self.module, lambda: results.append(forward(*args, **kwargs)))
            for new in (PROMPT, *range(1, PROMPT + NEW)):
                if said_here := positions_said(seen, self.found, new):
                    self.calls.append(tuple(said_here[0]))
                    break
            return results[0]

        return call
