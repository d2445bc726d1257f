"""PE213: the checkpoint lacks weights or has them in other shapes, so that what was examined is partly a fresh draw."""

import re
from collections.abc import Iterable, Iterator

from gnomon.adapters.subject import Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.base import claims
from gnomon.doctor.evidence.tables import is_position_name
from gnomon.report.document import Finding, Measured

LISTED = 3
#: the part after the last block, which tells nothing of positions; encoders are often published without it
HEAD = re.compile(r"(^|\.)(\w*_head|cls|classifier|score|qa_outputs|pooler|pre_classifier|classification_head)\.")


@check("PE213", "weights-missing", severity="error", needs=("loading",))
def weights_missing(subject: Subject) -> Iterator[Finding | Measured]:
    """The files lack tensors that the model needs, or hold them in another shape; loading drew them at random.

    Why: a loader that finds no position table under the name it expects draws a new one and says so in a line of log
    that scrolls by. The model runs, and every position is noise. Renamed keys, a prefix added by a wrapper, a table
    that was excluded from saving, and a checkpoint of another class all end this way.

    Fix: rename the keys in the file to what the class expects, or load the class that the checkpoint was saved from.
    What the other checks measured on such a model was measured on numbers that are in no file. Where a head alone is
    missing, it is a note: encoders are published without the head that their config names.

    Sources: DNABERT_2 discussion 9 (an ALiBi model loaded as plain BERT), transformers issue 31387.
    """
    loading = subject.get("loading")
    yield from _other_shapes(loading["mismatched"])
    shapes = {name for name, *_ in loading["mismatched"]}
    missing = sorted(str(name) for name in loading["missing"] if name not in shapes)
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
    heads = [name for name in others if HEAD.search(name)]
    if others:
        listed = ", ".join(others[:LISTED]) + (", ..." if len(others) > LISTED else "")
        yield Finding(
            "the checkpoint",
            f"{len(others)} tensors are in no file and were drawn at random: {listed}",
            "load the class that the checkpoint was saved from, or rename the keys; a new head is fine",
            {"missing": len(others)},
            severity="note" if len(heads) == len(others) else "warning",
        )


def _other_shapes(mismatched: Iterable[tuple[str, tuple[int, ...], tuple[int, ...]]]) -> Iterator[Finding | Measured]:
    """Tensors that the files hold in a shape that the config does not give; a plain load refuses them."""
    found = list(mismatched)
    yield Measured("tensors of another shape", len(found), 0, "loading refuses them, or draws them at random")
    for name, stored, own in found[:LISTED]:
        turned = stored == own[::-1] and stored != own
        yield Finding(
            name,
            f"it is {_shape(stored)} in the file and {_shape(own)} by the config: its numbers are not loaded",
            "swap the axes of the tensor in the file" if turned else "state the sizes that the weights have",
            {"in the file": list(stored), "by the config": list(own)},
        )


def _shape(sizes: tuple[int, ...]) -> str:
    return " x ".join(map(str, sizes)) or "a single number"
