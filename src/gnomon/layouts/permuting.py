"""Write a checkpoint anew with the rows of its queries and keys arranged for the other rotated pairs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from gnomon.adapters.checkpoints.huggingface import folder_config
from gnomon.adapters.checkpoints.json_file import read_json_object
from gnomon.adapters.checkpoints.rewriting import Changed, Rewriting, Rewritten, require_new_folder
from gnomon.adapters.checkpoints.weight_files import ADAPTER, folder_tensors, weight_files
from gnomon.adapters.checkpoints.whole import whole
from gnomon.errors import GnomonError
from gnomon.kernels.rotation import Layout, checked_layout
from gnomon.layouts.geometry import geometry_of
from gnomon.layouts.lanes import Lanes
from gnomon.layouts.order import Order, order_for
from gnomon.layouts.places import Attention, places_of
from gnomon.layouts.verifying import State, largest_error
from gnomon.report.plain import fields

ADAPTER_CONFIG = "adapter_config.json"
SCHEMA_VERSION = 1  #: of the form of `Permuted.to_dict`
Say = Callable[[str], None]


@final
@dataclass(frozen=True)
class Permuted:
    """What was written: `error` is the largest difference of scores before and after, relative to the largest one."""

    output: str
    came_from: Layout
    to: Layout
    tensors: int
    attentions: int
    error: float
    untouched: int
    digest: str  #: SHA-256 over the bytes of all tensors that did not move
    words: tuple[str, ...]
    left_behind: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {"schema_version": SCHEMA_VERSION, **fields(self)}


def permute(
    checkpoint: str | Path,
    output: str | Path,
    *,
    to: Layout,
    came_from: Layout | None = None,
    program: str | None = None,
    config: str | Path | None = None,
    progress: Say = lambda _: None,
) -> Permuted:
    """Writes the folder `output` with rows of queries and keys arranged for the pairs of the layout `to`.

    Pairs are lanes (i, i + r/2) in "half" and (2i, 2i + 1) in "interleaved" (Su et al. 2021, arXiv:2104.09864, has the
    second; Llama in transformers the first). What moves: weights and biases of queries and keys, also in fused
    projections, weights of QK-norms, rows of lora_B and magnitudes of DoRA; only the turned lanes of each head. All
    else is copied byte for byte, `checkpoint` is only read, and one tensor at a time is in memory.

    `checkpoint` is a folder with safetensors: a model, or a peft adapter, whose base's config.json is `config` (else
    the base that it names, where that is a folder here). `came_from` is the layout of the rows now: what a marker from
    an earlier run says, else what the model's class turns. `program` names what will run a result that the class would
    run wrongly. Before the folder appears, scores of every attention from random inputs are compared with the old ones.

    Raises GnomonError with one sentence, and leaves nothing behind, for weights that are quantised or of unknown use,
    for a result that its class would run wrongly without a `program`, and where scores differ.
    """
    source, target = Path(checkpoint), Path(output)
    checked_layout(to)
    if source.suffix.lower() == ".gguf" and not source.is_dir():
        raise GnomonError(
            f"GGUF files are not supported: {source} holds rows as llama.cpp wants them; move the rows of the folder "
            "that it was made from, and convert that."
        )
    require_new_folder(target, outside=source)
    adapter = weight_files(source) == (ADAPTER,)
    if config is not None and not adapter:
        raise GnomonError(
            f"{source} is a model with a config.json of its own; config (--config) names the base of an adapter, so "
            "leave it out."
        )
    base = _base_config(source, config) if adapter else folder_config(source)
    geometry = geometry_of(base)
    order = order_for(source, base, geometry, to=to, came_from=came_from, program=program, switchable=not adapter)
    tensors = folder_tensors(source, mapped=False)
    attentions = places_of(tensors.infos(), geometry, partly=adapter)
    with whole(target) as beside:
        written = _rewriting(attentions, order, progress).write(source, beside)
        old = State(tensors, order.came_from, moved=False)
        new = State(folder_tensors(beside, mapped=False), to, moved=True)
        error = largest_error(old, new, attentions, progress)
    return _result(target, order, attentions, written, error)


def _rewriting(attentions: tuple[Attention, ...], order: Order, progress: Say) -> Rewriting:
    tensors = {
        name: _change(lanes, order.to, attention.shapes[name])
        for attention in attentions
        for name, lanes in attention.lanes.items()
    }
    return Rewriting(tensors, order.files, progress)


def _change(lanes: Lanes, to: Layout, shape: tuple[int, ...]) -> Changed:
    return Changed(shape, lambda tensor: lanes.move(tensor, to))


def _base_config(source: Path, config: str | Path | None) -> Mapping[str, Any]:
    """The config.json of an adapter's base: as given, else that of the folder which the adapter names."""
    if config is not None:
        given = Path(config)
        return folder_config(given) if given.is_dir() else read_json_object(given)
    named = read_json_object(source / ADAPTER_CONFIG).get("base_model_name_or_path")
    if isinstance(named, str) and Path(named).is_dir():
        return folder_config(Path(named))
    raise GnomonError(f"{source} is an adapter of {named!r}, which is no folder here; name its config.json (--config).")


def _result(
    target: Path, order: Order, attentions: tuple[Attention, ...], written: Rewritten, error: float
) -> Permuted:
    moved = sum(len(attention.lanes) for attention in attentions)
    verified = (
        f"Verified: the scores of {len(attentions)} attentions from random inputs at random positions, old rows turned "
        f"{order.came_from} and new rows turned {order.to}, differ by {error:.1e} of the largest one at most."
    )
    return Permuted(
        str(target),
        order.came_from,
        order.to,
        moved,
        len(attentions),
        error,
        written.untouched,
        written.digest,
        (*order.words, verified),
        written.left_behind,
    )
