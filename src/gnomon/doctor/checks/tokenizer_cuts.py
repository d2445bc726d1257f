"""PE704: the tokenizer cuts inputs that the model could take."""

from collections.abc import Iterator

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.checks.tokenizer_longer_than_table import NO_LIMIT
from gnomon.doctor.evidence.base import attempt
from gnomon.doctor.evidence.length_limits import length_limits
from gnomon.doctor.evidence.lengths import lengths_in_use
from gnomon.report.document import Finding, Measured

FEW = 0.01  # share of inputs


@check("PE704", "tokenizer-cuts", severity="warning", needs=(lengths_in_use, "tokenizer"))
def tokenizer_cuts(subject: Subject) -> Iterator[Finding | Measured]:
    """More than one input in a hundred is longer than the tokenizer's `model_max_length`.

    Why: with truncation on, the tokenizer cuts at its own limit, whatever the model could take: a limit left at 256 or
    512 hides the rest of each text without a word.

    Fix: set `model_max_length` in tokenizer_config.json to the number of usable positions, or split the inputs.

    Sources: transformers issue 14243; documentation of `model_max_length`.
    """
    limit = subject.tokenizer.get("model_max_length")
    if isinstance(limit, bool) or not isinstance(limit, int | float) or not 0 < limit <= NO_LIMIT:
        raise MissingEvidence("the tokenizer states no model_max_length")
    used = lengths_in_use(subject)
    share = float((used > limit).mean())
    yield Measured("inputs that the tokenizer cuts", round(share, 4), FEW, f"model_max_length {int(limit)}")
    if share > FEW:
        able = max((found.tokens for found in (attempt(length_limits, subject) or ())[:1]), default=0)
        yield Finding(
            "tokenizer_config.json",
            f"model_max_length {int(limit)} cuts {share:.1%} of {len(used)} inputs, up to {int(used.max())} tokens"
            + (f"; the model takes {able}" if able > limit else ""),
            f"set model_max_length to {able}" if able > limit else f"split inputs to {int(limit)} tokens",
            {"model_max_length": int(limit), "share": share, "usable positions": able},
        )
