"""Options that nothing in a checkpoint reads are refused, and those that are read do what they say."""

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from gnomon.errors import GnomonError
from gnomon.extending import Asked, Lists, Options, extend, prepare
from tests.helpers.rotary_folders import config_folder, tiny
from tests.helpers.tiny_gguf import llama_metadata, llama_tensors, write_gguf

LLAMA = tiny("llama", rope_theta=5e5)


def _bert(folder: Path) -> Path:
    config = tiny("bert", max_position_embeddings=16, hidden_size=8, num_attention_heads=2)
    table = torch.randn(16, 8, generator=torch.Generator().manual_seed(1))
    config_folder(folder, config)
    save_file({"embeddings.position_embeddings.weight": table}, folder / "model.safetensors")
    return folder


UNREAD: list[tuple[dict[str, Any], str]] = [
    ({"kind": "cubic"}, "--kind: nothing is interpolated with --method auto"),
    ({"method": "tile", "keep": 3}, "--keep: nothing is kept with --method tile"),
    ({"method": "keep-first", "alpha": 0.3}, "--alpha: there are no digits with --method keep-first"),
    ({"part": "encoder"}, "--part: the model has no two stacks"),
    ({"original": 16}, "--original: the model turns no queries and keys"),
    ({"lists": Lists((1.0,), (1.0,))}, "--lists: the model turns no queries and keys"),
    ({"optimizer": True}, "no optimizer.pt and no optimizer.bin"),
    ({"gguf": True}, "--gguf: there is no GGUF file"),
    ({"method": "yarn"}, "has a learned table of positions; --method yarn is for rotary models; give tile, interp"),
    ({"to": (3, 4)}, "no grid of patches and no windows that --to 3x4"),
]


@pytest.mark.parametrize(("asked", "said"), UNREAD)
def test_an_option_that_nothing_reads_is_refused(tmp_path: Path, asked: dict[str, Any], said: str) -> None:
    source = _bert(tmp_path / "a")
    with pytest.raises(GnomonError, match=said):
        extend(source, tmp_path / "b", **{"to": 31, **asked})
    assert list(tmp_path.iterdir()) == [source]


def test_options_of_tables_are_read_by_the_one_call(tmp_path: Path) -> None:
    source = _bert(tmp_path / "a")
    done = extend(source, tmp_path / "b", to=32, method="keep-first", keep=5, kind="cubic")
    assert "keeping the first 5 and stretching" in done.words[0]
    told = prepare(source, Asked(32, "keep-first"))
    assert "keeping the first 4 (a quarter, as --keep says no other number)" in told.shown.words[0]
    assert str(told) == str(told.shown)
    assert "counts 0.3" in extend(source, tmp_path / "c", to=32, method="hierarchical", alpha=0.3).words[0]


def test_lists_are_for_longrope_alone(tmp_path: Path) -> None:
    source = config_folder(tmp_path / "a", LLAMA)
    with pytest.raises(GnomonError, match="Nothing would read the lists of divisors"):
        extend(source, tmp_path / "b", to=256, method="yarn", lists=Lists((1.0,) * 8, (2.0,) * 8))


@pytest.mark.parametrize("asked", [{"gguf": True}, {"optimizer": True}, {"tables": Options(keep=3)}])
def test_options_that_a_gguf_file_has_no_use_for_are_refused(tmp_path: Path, asked: dict[str, Any]) -> None:
    path = tmp_path / "model.gguf"
    write_gguf(path, "llama", llama_metadata(), llama_tensors())
    with pytest.raises(GnomonError, match=r"^Nothing would read --"):
        prepare(path, Asked(192, **asked))
