"""PE213: the checkpoint lacks weights, so that what was examined is partly a fresh draw."""

from collections.abc import Iterator

from gnomon.adapters.subject import Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.base import claims
from gnomon.doctor.evidence.tables import is_position_name
from gnomon.report.document import Finding, Measured

LISTED = 3


@check("PE213", "weights-missing", severity="error", needs=("loading",))
def weights_missing(subject: Subject) -> Iterator[Finding | Measured]:
    """The files lack tensors that the model needs; loading filled them with fresh random numbers.

    Why: a loader that finds no position table under the name it expects draws a new one and says so in a line of log
    that scrolls by. The model runs, and every position is noise. Renamed keys, a prefix added by a wrapper, a table
    that was excluded from saving, and a checkpoint of another class all end this way.

    Fix: rename the keys in the file to what the class expects, or load the class that the checkpoint was saved from.
    What the other checks measured on such a model was measured on numbers that are in no file.

    Sources: DNABERT_2 discussion 9 (an ALiBi model loaded as plain BERT), transformers issue 31387.
    """
    missing = sorted(str(name) for name in subject.get("loading")["missing"])
    stated = claims(subject)
    tables = [name for name in missing if is_position_name(name, stated)]
    yield Measured("tensors that the files lack", len(missing), 0, "loading draws them at random")
    for name in tables:
        yield Finding(
            name,
            "the position table is in no file: its numbers were drawn at random when the model was loaded",
            "rename the key in the file, or load the class that the checkpoint was saved from",
        )
    others = [name for name in missing if name not in tables]
    if others:
        listed = ", ".join(others[:LISTED]) + (", ..." if len(others) > LISTED else "")
        yield Finding(
            "the checkpoint",
            f"{len(others)} tensors are in no file and were drawn at random: {listed}",
            "load the class that the checkpoint was saved from, or rename the keys; a new head is fine",
            {"missing": len(others)},
            severity="warning",
        )
