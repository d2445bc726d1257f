"""`extend`: a checkpoint for longer contexts, planned, shown to every stack's reader, and written whole."""

from pathlib import Path
from typing import Literal

from gnomon.errors import UnsupportedTargetError
from gnomon.extending.asked import Asked
from gnomon.extending.extended import Extended
from gnomon.extending.folder import prepare_folder
from gnomon.extending.gguf.file import prepare_gguf
from gnomon.extending.prepared import Prepared, Told
from gnomon.extending.rotary.methods.longrope import Lists
from gnomon.extending.stacks import require_served
from gnomon.extending.tables.options import Options


def extend(
    source: str | Path,
    output: str | Path,
    *,
    to: int | tuple[int, int],
    method: str = "auto",
    original: int | None = None,
    lists: Lists | None = None,
    kind: str = "auto",
    keep: int | None = None,
    alpha: float | None = None,
    part: Literal["encoder", "decoder"] | None = None,
    optimizer: bool = False,
    gguf: bool = False,
    force: bool = False,
    progress: Told = lambda _: None,
) -> Extended:
    """Writes the checkpoint `source` anew for contexts of `to` tokens, at `output`, which must not exist yet.

    `source`: a folder with config.json and safetensors, or a .gguf file, whose output is a .gguf file. `to`: tokens, or
    (height, width) in patches for an image model. `method`: "auto"; for rotary models "linear", "ntk", "yarn",
    "longrope" or "dynamic"; for tables "tile", "interpolate", "keep-first" or "hierarchical". `original`: the trained
    length, where the config lies. `lists`: divisors of LongRoPE from a search. `kind`, `keep`, `alpha`, `part`: see
    `gnomon.extending.Options`. `optimizer`: the moments of tables follow. `gguf`: GGUF files in the folder too. `force`
    writes what no stack can serve. `gnomon.extending.prepare` says what will be done before it is.

    Tensors are streamed: at most one is in memory at a time. Raises GnomonError with one sentence, and leaves nothing:
    also for an option that nothing in this checkpoint reads.
    """
    options = Options(kind, keep, alpha, part)
    prepared = prepare(source, Asked(to, method, original, lists, options, optimizer, gguf))
    target = Path(output).expanduser()
    prepared.require_output(target)
    if not force:
        require_served(prepared.shown.stacks)
    return prepared.write(target, progress)


def prepare(source: str | Path, asked: Asked) -> Prepared:
    """The extension worked out and not written: `shown` says what `write` will do. Raises GnomonError as `extend`."""
    start = Path(source).expanduser()
    try:
        folder, there = start.is_dir(), start.exists()
    except (OSError, ValueError):  # too long, or with a null byte
        folder, there = False, False
    if folder:
        return prepare_folder(start, asked)
    if not there or start.suffix.lower() != ".gguf":
        raise UnsupportedTargetError(f"There is no checkpoint folder and no .gguf file {str(start)[:200]!r}.")
    return prepare_gguf(start, asked)
