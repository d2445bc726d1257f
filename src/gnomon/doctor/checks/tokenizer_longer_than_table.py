"""PE104: the tokenizer lets through more tokens than the table has positions."""

from collections.abc import Iterator

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.expected import claims_of
from gnomon.report.document import Finding, Measured

NO_LIMIT = 10**9  # transformers writes 1e30 for "no limit known"


@check("PE104", "tokenizer-longer-than-table", severity="warning", needs=("claims", "tokenizer"))
def tokenizer_longer_than_table(subject: Subject) -> Iterator[Finding | Measured]:
    """The tokenizer's limit is longer than the number of positions that the learned table can serve.

    Why: truncation at `model_max_length` is what keeps inputs inside the table. When it is larger than the usable rows
    (table rows less the reserved ones) the first long input stops with an index error, or a device assert on a GPU.

    Fix: set `model_max_length` in tokenizer_config.json to the number of usable positions.

    Sources: transformers issues 14243 and 1363 (RoBERTa: 514 rows, 512 usable), rinna japanese-pretrained-models
    issue 3.
    """
    stated = subject.tokenizer.get("model_max_length")
    if not isinstance(stated, int | float) or not stated <= NO_LIMIT:
        raise MissingEvidence("the tokenizer states no model_max_length")
    judged = False
    for claim in claims_of(subject, "learned"):
        usable = claim.options.get("max_length")
        if not isinstance(usable, int):
            continue
        judged = True
        yield Measured("tokenizer model_max_length", int(stated), usable, "usable rows of the position table")
        if stated > usable:
            yield Finding(
                "tokenizer_config.json",
                f"model_max_length is {int(stated)} but the table serves {usable} positions",
                f"set model_max_length to {usable}",
                {"model_max_length": int(stated), "usable positions": usable},
            )
    if not judged:
        raise MissingEvidence("the config states no length for a learned table")
