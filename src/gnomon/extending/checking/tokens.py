"""Text as token ids: by the tokenizer of a folder or a GGUF file, or by whatever the caller gives."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from gnomon.adapters.checkpoints.transformers_models import quiet_transformers
from gnomon.adapters.subject import MissingEvidence
from gnomon.adapters.tokenizers import load_tokenizer, read_text
from gnomon.errors import GnomonError

FEWEST = 64  #: tokens of a text that anything can be measured on


@final
@dataclass(frozen=True)
class Tokens:
    """`encode` gives a text's ids without special tokens; each row of tokens starts and ends with those given here."""

    encode: Callable[[str], list[int]]
    prefix: tuple[int, ...] = ()
    suffix: tuple[int, ...] = ()
    mask: int | None = None  #: the id that stands for a hidden token

    @property
    def special(self) -> int:
        """How many special tokens a row has."""
        return len(self.prefix) + len(self.suffix)


def tokens_of(target: Any, tokenizer: Any = None) -> Tokens:
    """The tokens of a target: of `tokenizer` where one is given, else of the folder's or the file's own.

    `tokenizer` is a tokenizer of transformers, or any function from a text to its token ids.

    >>> tokens_of(None, lambda text: list(text.encode())).encode("ab")
    [97, 98]
    """
    if tokenizer is None:
        if not isinstance(target, str | Path):
            raise GnomonError(
                f"A model in memory has no tokenizer; give tokenizer=, a function from text to ids, with this "
                f"{type(target).__name__}."
            )
        tokenizer = _own(Path(target).expanduser())
    if not callable(tokenizer):
        raise GnomonError(f"A tokenizer is a function from a text to its ids, got {type(tokenizer).__name__}.")
    if isinstance(tokenizer("a"), Mapping):
        return _of_transformers(tokenizer)
    return Tokens(lambda text: [int(each) for each in tokenizer(text)])


def ids_of(tokens: Tokens, path: str | Path, *, fewest: int = FEWEST) -> list[int]:
    """The ids of a text file; raises GnomonError for fewer than `fewest`."""
    ids = tokens.encode(read_text(path))
    if len(ids) < fewest:
        raise GnomonError(
            f"The text {path} has {len(ids)} tokens, too few to measure on; give one of {fewest} or more."
        )
    return ids


def _own(path: Path) -> Any:
    try:
        return load_tokenizer(path)
    except MissingEvidence as error:
        words = str(error)
        raise GnomonError(f"{words[0].upper()}{words[1:]}.") from None


def _of_transformers(tokenizer: Any) -> Tokens:
    def encode(text: str) -> list[int]:
        with quiet_transformers():
            return list(tokenizer(text, add_special_tokens=False, truncation=False, padding=False)["input_ids"])

    bare, whole = encode("a"), list(tokenizer("a")["input_ids"])
    starts = [at for at in range(len(whole) - len(bare) + 1) if whole[at : at + len(bare)] == bare]
    before = starts[0] if starts and bare else 0
    after = before + len(bare) if starts and bare else len(whole)
    return Tokens(encode, tuple(whole[:before]), tuple(whole[after:]), getattr(tokenizer, "mask_token_id", None))
