"""A position table that is in no file was drawn at random: the model it gives is not the checkpoint."""

from collections.abc import Callable
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file
from torch import Tensor

from gnomon.adapters import load_subject
from gnomon.adapters.subject import Subject
from gnomon.doctor import run
from tests.helpers.healthy import FOREIGN


def saved(folder: Path, family: str, change: Callable[[dict[str, Tensor]], object]) -> Subject:
    """A folder with a model of this family, its tensors changed on the way."""
    FOREIGN[family]().save_pretrained(folder)  # type: ignore[operator]
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    return load_subject(folder)


@pytest.mark.parametrize(
    ("family", "table"),
    [("bert", "embeddings.position_embeddings.weight"), ("gpt-2", "transformer.wpe.weight")],
)
def test_a_missing_position_table_is_an_error(tmp_path: Path, family: str, table: str) -> None:
    result = run("PE213", saved(tmp_path, family, lambda tensors: tensors.pop(table)))
    [finding] = result.findings
    assert (result.status, result.severity) == ("failed", "error")
    assert finding.where == table
    assert "drawn at random" in finding.message


def test_other_missing_tensors_are_a_warning(tmp_path: Path) -> None:
    result = run("PE213", saved(tmp_path, "bert", lambda tensors: tensors.pop("pooler.dense.weight")))
    assert (result.status, result.severity) == ("failed", "warning")
    assert "pooler.dense.weight" in result.findings[0].message


def test_a_whole_checkpoint_passes_and_a_module_is_not_applicable(tmp_path: Path) -> None:
    assert run("PE213", saved(tmp_path, "bert", lambda tensors: None)).status == "passed"
    assert run("PE213", load_subject(FOREIGN["bert"]())).status == "not-applicable"
