"""The extension of a GGUF file: its metadata and its lists of divisors."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, final

from gnomon.adapters.gguf.pairs import Head, read_head
from gnomon.adapters.gguf.writing import F32Lists, write_gguf
from gnomon.errors import GnomonError
from gnomon.extending.asked import Asked
from gnomon.extending.extended import Edit, Extended
from gnomon.extending.gguf.metadata import gguf_changes
from gnomon.extending.gguf.reading import read_gguf_rotary
from gnomon.extending.prepared import Prepared, Told
from gnomon.extending.rotary.composing import Composed, composed
from gnomon.extending.rotary.lengths import lengths_of
from gnomon.extending.sentences import sentences
from gnomon.extending.stacks import StackRow, rows_of
from gnomon.extending.unused import require_read_of_gguf
from gnomon.plots.files import try_writing

METADATA: Final = "metadata"


@final
@dataclass(frozen=True, eq=False)
class PreparedGGUF(Prepared):
    """`keys` of the metadata in full, `lists` by name of their tensor."""

    shown: Extended
    head: Head
    keys: Mapping[str, Any]
    lists: F32Lists

    def require_output(self, output: Path) -> None:
        require_new_file(output)

    def write(self, output: Path, progress: Told = lambda _: None) -> Extended:
        require_new_file(output)
        progress(output.name)
        write_gguf(self.head, output, self.keys, self.lists)
        return replace(self.shown, output=output, untouched=len(self.head.header.tensors) - self._replaced)

    @property
    def _replaced(self) -> int:
        return sum(stored.name in self.lists for stored in self.head.header.tensors)


def prepare_gguf(source: Path, asked: Asked, *, ask_stacks: bool = True) -> PreparedGGUF:
    """Raises GnomonError with one sentence for what cannot be extended so, or has no words in GGUF."""
    if not isinstance(asked.to, int):
        raise GnomonError("A GGUF file is extended to a number of tokens; give one.")
    require_read_of_gguf(asked)
    head = read_head(source)
    _require_whole(head)
    architecture = head.header.metadata.get("general.architecture")
    if not isinstance(architecture, str) or not architecture:
        raise GnomonError(f"{source} does not say what architecture it holds.")
    rotary, given = read_gguf_rotary(head)
    made = composed(rotary, lengths_of(rotary, asked.to, asked.original), asked.method, asked.lists)
    changes = gguf_changes(made, architecture, head.header.metadata)
    keys = {f"{architecture}.{key}": value for key, value in changes.keys.items()}
    rows: tuple[StackRow, ...] = ()
    if ask_stacks:
        factors = {name: tuple(float(v) for v in values) for name, values in changes.lists.items()}
        rows = rows_of(replace(given.edited(keys), factors={**given.factors, **factors}), asked.to, asked.stacks)
    edits = tuple(Edit(key, head.header.metadata.get(key), value) for key, value in keys.items())
    shown = Extended(
        source=source,
        output=None,
        to=asked.to,
        method=made.method,
        words=sentences(made.words),
        drawbacks=sentences((*made.drawbacks, *_dropped(made, architecture))),
        edits={METADATA: edits},
        stacks=rows,
        changed=tuple(changes.lists),
    )
    return PreparedGGUF(shown, head, keys, changes.lists)


def _dropped(made: Composed, architecture: str) -> tuple[str, ...]:
    """What transformers' loader of GGUF files passes over; it reads the scaling of one architecture only."""
    rules = {scaled.rule for _, scaled in made.layers if scaled is not None}
    if rules <= {"default"} or architecture == "gpt-oss":
        return ()
    return (
        "transformers loads GGUF files without their scaling, as if the model were not extended; "
        "llama.cpp and gnomon read it",
    )


def _require_whole(head: Head) -> None:
    parts = head.header.metadata.get("split.count", 0)
    if isinstance(parts, int) and parts > 1:
        raise GnomonError(
            f"{head.path} is one of {parts} parts of a model; join them first, as llama-gguf-split --merge does."
        )


def require_new_file(output: Path) -> None:
    """Raises GnomonError when the file is there already, or cannot be made where it should stand."""
    if output.suffix.lower() != ".gguf":
        raise GnomonError(
            f"A GGUF file is extended into another one; name {output.name or 'it'} with .gguf at its end."
        )
    try_writing(output)
    if output.exists() or output.is_symlink():
        raise GnomonError(f"{output} exists already, and nothing is overwritten; name a new file.")
