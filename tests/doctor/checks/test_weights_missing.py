"""A position table that is in no file was drawn at random: the model it gives is not the checkpoint."""

from collections.abc import Callable
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file
from torch import Tensor

from gnomon.adapters import load_subject
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor import run
from tests.helpers.healthy import FOREIGN

QUERY = "encoder.layer.0.attention.self.query.weight"


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
    result = run("PE213", saved(tmp_path, "bert", lambda tensors: tensors.pop(QUERY)))
    assert (result.status, result.severity) == ("failed", "warning")
    assert QUERY in result.findings[0].message


def test_a_missing_head_alone_is_a_note(tmp_path: Path) -> None:
    def without_pooler(tensors: dict[str, Tensor]) -> None:
        del tensors["pooler.dense.weight"], tensors["pooler.dense.bias"]

    assert run("PE213", saved(tmp_path / "head", "bert", without_pooler)).severity == "note"

    def without_both(tensors: dict[str, Tensor]) -> None:
        without_pooler(tensors)
        del tensors[QUERY]

    assert run("PE213", saved(tmp_path / "both", "bert", without_both)).severity == "warning"


def test_a_whole_checkpoint_passes_and_a_module_is_not_applicable(tmp_path: Path) -> None:
    assert run("PE213", saved(tmp_path, "bert", lambda tensors: None)).status == "passed"
    assert run("PE213", load_subject(FOREIGN["bert"]())).status == "not-applicable"


def test_a_tensor_of_another_shape_is_an_error_and_the_model_is_not_examined(tmp_path: Path) -> None:
    def turn(tensors: dict[str, Tensor]) -> None:
        tensors["transformer.wpe.weight"] = tensors["transformer.wpe.weight"].T.contiguous()

    subject = saved(tmp_path, "gpt-2", turn)
    rows, width = subject.config["n_positions"], subject.config["n_embd"]
    result = run("PE213", subject)
    [finding] = result.findings
    assert (result.severity, finding.where) == ("error", "transformer.wpe.weight")
    assert f"it is {width} x {rows} in the file and {rows} x {width} by the config" in finding.message
    assert finding.fix == "swap the axes of the tensor in the file"
    with pytest.raises(MissingEvidence, match=r"cannot load the model: transformer\.wpe\.weight is"):
        _ = subject.module
