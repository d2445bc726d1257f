"""PE323: the model takes fewer tokens than it states, or says nothing a person can act on when there are too many."""

import re
from collections.abc import Iterator

from gnomon.adapters.subject import Subject
from gnomon.adapters.wording import said
from gnomon.doctor.check import check
from gnomon.doctor.evidence.base import claims
from gnomon.doctor.evidence.calling import Model, model
from gnomon.doctor.evidence.limits import Limit, limit
from gnomon.doctor.evidence.padding import pad_token
from gnomon.report.document import Finding, Measured

WITHOUT_LIMIT = ("rotary", "alibi", "t5", "shaw", "kerple", "sandwich", "nope", "none")
TORCH_SAYS = re.compile(r"size of tensor|must match|expanded size|index out of range|out of bounds|invalid for input")


@check("PE323", "length-limit", severity="error", needs=(model, limit))
def length_limit(subject: Subject) -> Iterator[Finding | Measured]:
    """The forward fails within the stated length, where its encoding has no limit, or with an obscure error.

    Why: a literal 2048 in a table that the config calls 8192 long stops a model in the middle of its range, and a bias
    or a buffer built once for the configured length ends an encoding that has no end. "Index out of range" or "size of
    tensor a must match" deep inside a forward does not tell anybody that the input is too long, nor what the limit is.
    The stated length and one more are tried, by position ids where so many tokens would cost too much.

    Fix: size tables and masks from the config or the input at hand; where there is a limit, raise a ValueError that
    names the length given and the longest allowed.

    Sources: mit-han-lab/llm-awq#332 (a literal 2048), speechbrain/speechbrain#2071, mosaicml/llm-foundry#331 (ALiBi
    that ends), huggingface/transformers#17026 (relative positions that end).
    """
    probe, found = model(subject), limit(subject)
    endless = sorted({claim.kind for claim in claims(subject)} & set(WITHOUT_LIMIT))
    yield Measured(
        f"longest that runs, by {found.by}", found.runs or f"{found.tried} or more", found.stated, "as stated"
    )
    if probe.only_length is not None:
        yield from _short(probe, probe.only_length)
    elif found.runs is not None and found.error is not None:
        yield from _judge(found, found.runs, found.error, endless, pad_token(subject))


def _judge(found: Limit, runs: int, error: BaseException, endless: list[str], pad: int | None) -> Iterator[Finding]:
    what = f"{found.by} {runs + 1}" if found.by == "length" else f"position id {runs}"
    numbers = {"runs": runs, "stated": found.stated}
    if found.stated is not None and runs < found.stated:
        yield Finding(
            "the forward",
            f"{found.stated} positions are stated, and {what} fails: {said(error)}",
            f"build tables, buffers and masks for {found.stated} positions (look for the literal {runs}), "
            f"or state {runs}",
            numbers,
            # The family of RoBERTa states the rows of its table, of which it reserves those up to the padding id.
            severity="warning" if pad is not None and found.stated - runs in (pad + 1, pad + 2) else None,
        )
    elif endless:
        yield Finding(
            "the forward",
            f"{', '.join(endless)} has no longest input, but {what} fails: {said(error)}",
            f"compute the bias or the distances for the input at hand instead of once for {runs}; clip distances where "
            f"a table ends; or raise a ValueError that names {runs + 1} and {runs}",
            numbers,
            severity="note" if found.stated else "warning",
        )
    elif found.stated is None and not _is_clear(error, runs):
        yield Finding(
            "the forward",
            f"the longest input is {runs} tokens, which nothing states; {what} fails with an obscure error: "
            f"{said(error)}",
            f"raise a ValueError that names the length given ({runs + 1}) and the longest allowed ({runs}), or extend "
            "the table",
            numbers,
            severity="note",
        )


def _is_clear(error: BaseException, runs: int) -> bool:
    """Whether the message says what is too long for what, in words of the model's own."""
    text = str(error)
    return str(runs) in text and str(runs + 1) in text and not TORCH_SAYS.search(text)


def _short(probe: Model, only: int) -> Iterator[Finding]:
    """A table that is added whole takes inputs of its length only; vectors, as of patches, may be so many by design."""
    if probe.takes_ids:
        yield Finding(
            "the forward",
            f"only inputs of exactly {only} tokens run: a table is added whole, whatever the input's length",
            "cut the table to the input: x + table[:, : x.shape[1]]",
            {"length": only},
            severity="warning",
        )
