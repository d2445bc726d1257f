"""What a target says of its own rows: its marker, its family, the program a GGUF file is for, or its forward."""

from dataclasses import dataclass
from pathlib import Path
from typing import final

from gnomon.adapters.gguf.file import GGUFTensors
from gnomon.adapters.module import ModuleTensors
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.base import attempt, claims
from gnomon.doctor.evidence.query_key_rows import heads, layout_of
from gnomon.doctor.evidence.rotary import rotary_uses
from gnomon.kernels.rotation import Layout
from gnomon.layouts.found import Evidence
from gnomon.layouts.geometry import KINDS
from gnomon.layouts.marker import MARKER, marked_layout


@final
@dataclass(frozen=True)
class Stored:
    """`claimed`: how the rows are meant to lie; `runs`: the pairs that the model turns which gnomon runs.

    Both are the same but for a folder with a marker, and for a GGUF file whose rows transformers moves back.
    """

    claimed: Layout | None
    runs: Layout | None
    evidence: Evidence
    marked: bool = False

    def told(self, needed: str) -> tuple[Layout | None, bool]:
        """The layout of the rows where they had to be gathered to `needed` to fit what runs; True if moved twice.

        "same": as they are.
        """
        if self.runs is None:
            return None, False
        loaded: Layout | None = self.runs  # the layout that the rows have where nothing has to be moved
        if needed == "same":
            return (self.claimed if self._moved_on_loading else loaded), False
        if needed == self.runs and not self._moved_on_loading:
            return ("interleaved" if self.runs == "half" else "half"), False
        return None, True

    @property
    def _moved_on_loading(self) -> bool:
        return self.claimed != self.runs and not self.marked


def stored(subject: Subject) -> Stored:
    """The first evidence, from what the target says of itself."""
    tensors = attempt(lambda s: s.tensors, subject)
    try:
        if isinstance(tensors, ModuleTensors):
            runs = rotary_uses(subject)[0].first.layout
            return _stored(subject, runs, runs, f"its forward turns {runs} pairs")
        runs = _runs(subject)
        marked = marked_layout(Path(subject.target)) if Path(subject.target).is_dir() else None
        claimed = layout_of(subject)
    except MissingEvidence as missing:
        return Stored(None, None, Evidence("config", None, f"{missing}"))
    name = subject.config.get("model_type")
    if marked is not None:
        words = f"{MARKER} says so; the class of {name} in transformers turns {runs} pairs and runs them wrongly"
        return _stored(subject, marked, runs, words if marked != runs else f"{MARKER} says so", marked=True)
    if isinstance(tensors, GGUFTensors) and claimed != runs:
        words = f"architecture {name}: rows lie so in GGUF files for llama.cpp; transformers moves them back to {runs}"
        return _stored(subject, claimed, runs, words)
    return _stored(subject, claimed, runs, f"model_type {name}: its class turns {runs} pairs")


def _runs(subject: Subject) -> Layout:
    stated = claims(subject)
    found = {claim.options.get("layout") for claim in stated if claim.kind in KINDS}
    if stated and not found:
        kind = subject.config.get("model_type")
        raise MissingEvidence(f"a model of type {kind!r} has no rotation of queries and keys, so rows have no pairs")
    if found not in ({"half"}, {"interleaved"}):
        raise MissingEvidence("neither a config of a known family nor a forward says which lanes are paired")
    return "half" if found == {"half"} else "interleaved"


def _stored(subject: Subject, claimed: Layout, runs: Layout, words: str, *, marked: bool = False) -> Stored:
    head = attempt(heads, subject)
    numbers = {} if head is None else {"head_dim": float(head.width), "turned": float(head.rotated)}
    return Stored(claimed, runs, Evidence("config", claimed, words, numbers), marked)
