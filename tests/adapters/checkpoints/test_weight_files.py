"""Which files of a folder hold its weights."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from gnomon.adapters.checkpoints.weight_files import folder_tensors, weight_files
from gnomon.errors import UnsupportedTargetError
from tests.helpers.rewritten import folder_of, tensors


@pytest.mark.parametrize("mapped", [True, False])
@pytest.mark.parametrize("shards", [1, 3])
def test_the_tensors_of_all_shards_are_one_source(tmp_path: Path, shards: int, mapped: bool) -> None:
    source = folder_tensors(folder_of(tmp_path / "a", shards=shards), mapped=mapped)
    assert {info.name: info.shape for info in source} == {n: tuple(t.shape) for n, t in tensors().items()}
    assert torch.equal(source.load("embed.weight"), tensors()["embed.weight"])


def test_an_adapter_is_read_and_a_folder_without_weights_is_not(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedTargetError, match="save the model as safetensors first"):
        weight_files(tmp_path)
    save_file({"a": torch.ones(2)}, tmp_path / "adapter_model.safetensors")
    assert weight_files(tmp_path) == ("adapter_model.safetensors",)
    assert folder_tensors(tmp_path).load("a").tolist() == [1.0, 1.0]
