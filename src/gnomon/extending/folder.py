"""The extension of a checkpoint folder: its plan as files, and the tensors streamed past it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, final

from gnomon.adapters.checkpoints.huggingface import CONFIG, TOKENIZER
from gnomon.adapters.checkpoints.json_file import json_bytes
from gnomon.adapters.checkpoints.rewriting import Rewriting, require_new_folder
from gnomon.adapters.checkpoints.weight_files import weight_files
from gnomon.errors import GnomonError
from gnomon.extending.asked import Asked
from gnomon.extending.beside import GENERATION
from gnomon.extending.extended import Extended, edits_between
from gnomon.extending.plan import with_edits
from gnomon.extending.planning import Planned, planned
from gnomon.extending.prepared import Prepared, Told
from gnomon.extending.stacks import StackRow, rows_of
from gnomon.resolving.given import Given


@final
@dataclass(frozen=True)
class PreparedFolder(Prepared):
    """`files` are the small ones as they will be; `made` are GGUF files of the folder, extended in the same way."""

    shown: Extended
    plan: Planned
    files: Mapping[str, Mapping[str, Any]]
    made: Mapping[str, Callable[[Path], None]]

    def require_output(self, output: Path) -> None:
        require_new_folder(output, outside=self.plan.source)

    def write(self, output: Path, progress: Told = lambda _: None) -> Extended:
        raw: dict[str, bytes | None] = {name: json_bytes(content) for name, content in self.files.items()}
        raw |= self.plan.plan.files
        done = Rewriting(self.plan.plan.tensors, raw, progress, self.made).write(self.plan.source, output)
        return replace(
            self.shown,
            output=output,
            untouched=done.untouched,
            digest=done.digest,
            left_behind=done.left_behind,
        )


def prepare_folder(source: Path, asked: Asked) -> PreparedFolder:
    """Raises GnomonError with one sentence for what cannot be extended so."""
    weight_files(source)
    plan = planned(source, asked)
    files = _files(plan)
    before = {CONFIG: plan.config, TOKENIZER: plan.beside.tokenizer, GENERATION: plan.beside.generation}
    shown = Extended(
        source=source,
        output=None,
        to=asked.to,
        method=plan.method,
        words=plan.plan.words,
        drawbacks=plan.plan.drawbacks,
        edits={name: edits_between(before[name], after) for name, after in files.items()},
        stacks=_rows(plan, asked, files),
        changed=tuple(plan.plan.tensors),
    )
    return PreparedFolder(shown, plan, files, _made(source, asked) if asked.gguf else {})


def _files(plan: Planned) -> dict[str, Mapping[str, Any]]:
    files: dict[str, Mapping[str, Any]] = {CONFIG: plan.new_config}
    for name, held, edits in (
        (TOKENIZER, plan.beside.tokenizer, plan.plan.tokenizer),
        (GENERATION, plan.beside.generation, plan.plan.generation),
    ):
        if held and edits:
            files[name] = with_edits(held, edits)
    return files


def _rows(plan: Planned, asked: Asked, files: Mapping[str, Mapping[str, Any]]) -> tuple[StackRow, ...]:
    """Stacks are asked of rotation only; of tables they read the shapes."""
    if not plan.rotary or not isinstance(asked.to, int):
        return ()
    given = Given(str(plan.source), config=files[CONFIG], tokenizer=files.get(TOKENIZER, plan.beside.tokenizer))
    return rows_of(given, asked.to, asked.stacks)


def _made(source: Path, asked: Asked) -> dict[str, Callable[[Path], None]]:
    """GGUF files of the folder; what they come to is worked out before anything is written."""
    from gnomon.extending.gguf.file import prepare_gguf

    paths = sorted(path for path in source.iterdir() if path.suffix.lower() == ".gguf")
    if not paths:
        raise GnomonError(f"Nothing would read --gguf: there is no GGUF file in {source}; leave it out.")
    alone = replace(asked, gguf=False, optimizer=False, tables=None)
    return {path.name: partial(_written, prepare_gguf(path, alone, ask_stacks=False)) for path in paths}


def _written(prepared: Prepared, path: Path) -> None:
    prepared.write(path)
