"""Folders with tiny models, extended by a plan of tables and loaded again."""

import json
from pathlib import Path
from typing import Any

from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from gnomon.adapters.checkpoints.rewriting import Rewriting
from gnomon.adapters.checkpoints.transformers_models import quiet_transformers
from gnomon.extending.plan import Plan, with_edits
from gnomon.extending.tables import plan_tables
from tests.helpers.tiny_transformers import tiny_model
from tests.helpers.weights import redraw


def saved(folder: Path, model_type: str, **more: Any) -> Any:
    """A tiny model whose weights are drawn anew, written into the folder."""
    model: Any = tiny_model(model_type, **more)
    redraw(model)
    with quiet_transformers():
        model.save_pretrained(folder)
    return model


def config_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "config.json").read_text())
    return found


def extended(folder: Path, to: Any, **options: Any) -> tuple[Path, Plan]:
    """The folder written anew beside itself by the plan."""
    plan = plan_tables(folder, config_of(folder), to=to, **options)
    assert plan is not None
    output = folder.with_name(folder.name + "-extended")
    files = {"config.json": json.dumps(with_edits(config_of(folder), plan.config)).encode(), **plan.files}
    Rewriting(plan.tensors, files).write(folder, output)
    return output, plan


def loaded(folder: Path) -> Any:
    """The model of a folder; every weight must come from the file, in its shape."""
    from transformers import AutoModel

    with quiet_transformers():
        model, report = AutoModel.from_pretrained(folder, output_loading_info=True)
    assert not report["missing_keys"], report["missing_keys"]
    assert not report["mismatched_keys"], report["mismatched_keys"]
    module: nn.Module = model.eval()
    return module


def stored(folder: Path, name: str) -> Tensor:
    """A tensor of model.safetensors."""
    held: dict[str, Tensor] = load_file(folder / "model.safetensors")
    return held[name]


def store(folder: Path, more: dict[str, Tensor]) -> None:
    """Adds tensors to model.safetensors."""
    path = folder / "model.safetensors"
    save_file({**load_file(path), **more}, path, metadata={"format": "pt"})
