"""A model opened to be measured: its module, its tokens, the length it states, and what it can be asked."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, final

import torch
from jaxtyping import Int64
from torch import Tensor, nn

from gnomon.adapters import load_subject
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.base import claims
from gnomon.doctor.evidence.calling import stated_limit
from gnomon.doctor.evidence.signature import main_output
from gnomon.errors import GnomonError
from gnomon.extending.checking.tokens import Tokens

Kind = Literal["causal", "masked", "encoder"]
PROBE = 12  #: tokens of the rows that tell the kind


@final
@dataclass(frozen=True)
class Opened:
    """`kind`: "causal" predicts each next token, "masked" hidden tokens, "encoder" gives vectors alone.

    `length` is the longest row that the config states, in tokens; None where nothing states one.
    """

    name: str
    module: nn.Module
    tokens: Tokens
    length: int | None
    kind: Kind

    @property
    def device(self) -> torch.device:
        """Where ids have to be."""
        return next((parameter.device for parameter in self.module.parameters()), torch.device("cpu"))

    def row(self, ids: list[int]) -> Int64[Tensor, " S"]:
        """A row of text with the special tokens around it."""
        whole = [*self.tokens.prefix, *ids, *self.tokens.suffix]
        return torch.tensor(whole, dtype=torch.int64, device=self.device)


def open_model(target: Any, tokens: Tokens) -> Opened:
    """Open a folder, a GGUF file or a module in memory, of which a copy runs.

    Nothing that a folder brings is executed. Raises GnomonError for what cannot be run or read.
    """
    subject = load_subject(target)
    if _architecture(subject) == "encoder-decoder":
        raise GnomonError(f"{subject.target} is an encoder with a decoder; encoders and decoders alone are measured.")
    try:
        module = subject.module.eval()
    except MissingEvidence as error:
        raise GnomonError(f"{subject.target} cannot be run: {error}.") from None
    return Opened(_name(target, subject), module, tokens, stated_length(subject), _kind(module, tokens))


def stated_length(subject: Subject) -> int | None:
    """The longest row by the config: the shortest of what its parts state."""
    stated = [claim.options.get(key) for claim in claims(subject) for key in ("max_length", "stated_length")]
    return min((n for n in stated if isinstance(n, int) and n > 0), default=stated_limit(subject))


@torch.no_grad()
def _kind(module: nn.Module, tokens: Tokens) -> Kind:
    """By two rows that differ in their last token: whether the places before it notice, and whether words come out."""
    ids = tokens.encode("The quick brown fox jumps over the lazy dog; two more words of it.")[:PROBE]
    if len(ids) < 3:
        raise GnomonError("The tokenizer gives fewer than 3 ids for a sentence; give the tokenizer of the model.")
    other = [*ids[:-1], ids[0]]
    device = next((parameter.device for parameter in module.parameters()), torch.device("cpu"))
    one, two = (main_output(module(torch.tensor([row], device=device)))[0] for row in (ids, other))
    if not _has_words(module, one, max(ids)):
        return "encoder"
    return "causal" if torch.allclose(one[:-1], two[:-1], rtol=1e-3, atol=1e-4, equal_nan=True) else "masked"


def _has_words(module: nn.Module, output: Tensor, greatest: int) -> bool:
    head = getattr(module, "get_output_embeddings", None)
    return output.shape[-1] > greatest if not callable(head) else head() is not None


def _architecture(subject: Subject) -> str | None:
    try:
        found = subject.get("family")
    except MissingEvidence:
        return None
    return getattr(found, "architecture", None)


def _name(target: Any, subject: Subject) -> str:
    return Path(target).name if isinstance(target, str | Path) else subject.target
