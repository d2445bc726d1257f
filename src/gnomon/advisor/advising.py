"""`gnomon.advise`: from what a user says, word by word, to advice."""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from gnomon.advisor.checkpoint import family as read_family
from gnomon.advisor.checkpoint import read_checkpoint
from gnomon.advisor.description import Checkpoint, Description, Setting
from gnomon.advisor.engine import answer
from gnomon.advisor.lengths import Lengths
from gnomon.advisor.measured import MeasuredFact, read_measured
from gnomon.advisor.sizes import ModelSizes
from gnomon.advisor.task import Device, Limit, Need, Task
from gnomon.errors import GnomonError
from gnomon.report.advice.document import Advice

Word = TypeVar("Word", bound=StrEnum)


def advise(
    task: str | None = None,
    *,
    causal: bool | None = None,
    need: str | None = None,
    trained: int | None = None,
    target: int | None = None,
    lengths: Sequence[int] | str | Path | None = None,
    percentiles: Mapping[int, int] | None = None,
    unlimited: bool = False,
    cut: bool = True,
    checkpoint: str | Path | None = None,
    family: str | None = None,
    fine_tune: bool | None = None,
    device: str | None = None,
    examples: int | None = None,
    tokens: int | None = None,
    limits: Iterable[str] = (),
    sizes: ModelSizes | None = None,
    measured: str | Path | None = None,
) -> Advice:
    """A ranked recommendation of position encodings, with options, costs, risks and what each of them stands on.

    `task` is a word of `Task`; `need` is "absolute" or "relative" where positions of that kind decide the answer.
    `trained` and `target` are lengths in tokens. `lengths`: the number of tokens of each example, or a file of them as
    `gnomon doctor --lengths` reads; or `percentiles`, as {50: 120, 95: 480, 100: 512}. `unlimited`: inputs have no
    longest length; `cut`: long ones may be cut. `checkpoint` is a Hugging Face folder, config.json or .gguf file to
    start from, or `family` a model type such as "llama"; without them the model is new. `limits` are words of `Limit`.
    `measured` is a file of facts measured by the lab (`gnomon.advisor.measured`).

    What is not said is assumed, and the advice says what was. Raises GnomonError for a description that contradicts
    itself or cannot be met, with the reason.

    >>> advice = advise("classification", need="absolute", percentiles={95: 480, 100: 600})
    >>> advice.best.encoding, advice.best.options["max_length"]
    ('learned', 528)
    """
    description = Description(
        task=_word(Task, task, "task"),
        causal=causal,
        need=_word(Need, need, "need"),
        lengths=Lengths(trained, target, _counts(lengths), _percentiles(percentiles), unlimited, cut),
        sizes=ModelSizes() if sizes is None else sizes,
        setting=Setting(
            _start(checkpoint, family),
            fine_tune,
            _word(Device, device, "device"),
            examples,
            tokens,
            _limits(limits),
        ),
        measured=_measured(measured),
    )
    return answer(description)


def known(words: type[Word], given: str, what: str) -> Word:
    """The member of an enumeration that a user's word names; raises GnomonError with the words that exist."""
    try:
        return words(given)
    except ValueError:
        raise GnomonError(f"The {what} is one of {', '.join(words)}, got {given!r}.") from None


def _word(words: type[Word], given: str | None, what: str) -> Word | None:
    return None if given is None else known(words, given, what)


def _counts(lengths: Sequence[int] | str | Path | None) -> tuple[int, ...]:
    if lengths is None:
        return ()
    from gnomon.adapters.lengths import checked_lengths, read_lengths

    if isinstance(lengths, bytes | Mapping):
        raise GnomonError(f"Lengths are a list of numbers of tokens, or a file of them, got {type(lengths).__name__}.")
    return tuple(sorted(read_lengths(lengths) if isinstance(lengths, str | Path) else checked_lengths(lengths)))


def _percentiles(given: Mapping[int, int] | None) -> dict[int, int]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise GnomonError(f"The percentiles are a mapping, as {{95: 480}}, got {type(given).__name__}.")
    return dict(given)


def _limits(given: Iterable[str]) -> frozenset[Limit]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise GnomonError(f"The limits are a list of words, as ['onnx'], got {given!r}.")
    return frozenset(known(Limit, limit, "limit") for limit in given)


def _start(checkpoint: str | Path | None, family: str | None) -> Checkpoint | None:
    if checkpoint is not None and family is not None:
        raise GnomonError("A model starts from a checkpoint or from a family, not from both; give one of them.")
    if not isinstance(checkpoint, str | Path | None) or not isinstance(family, str | None):
        raise GnomonError("A checkpoint is a path, and a family is a model type such as 'llama'; one is neither.")
    if checkpoint is not None:
        return read_checkpoint(checkpoint)
    return None if family is None else read_family(family)


def _measured(path: str | Path | None) -> tuple[MeasuredFact, ...]:
    return () if path is None else read_measured(path)
