"""Rewriting that cannot be done, or is cut off: one sentence, and nothing is left behind."""

import errno
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor

from gnomon.adapters.checkpoints.rewriting import Changed, Rewriting, require_new_folder
from gnomon.adapters.checkpoints.weight_files import weight_files
from gnomon.errors import GnomonError, UnsupportedTargetError
from tests.helpers.rewritten import DOUBLED, doubled, folder_of


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (Changed((11, 4), doubled), "(12, 4) in torch.float32, but (11, 4) in torch.float32 was announced"),
        (Changed((12, 4), lambda old: doubled(old).half()), "(12, 4) in torch.float16, but (12, 4) in torch.float32"),
    ],
)
def test_another_shape_or_dtype_than_announced_is_refused(tmp_path: Path, change: Changed, said: str) -> None:
    source = folder_of(tmp_path / "a")
    with pytest.raises(GnomonError) as error:
        Rewriting({"embed.weight": change}).write(source, tmp_path / "b")
    assert said in str(error.value)
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_change_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    def fails(_: Tensor) -> Tensor:
        raise ZeroDivisionError

    source = folder_of(tmp_path / "a")
    with pytest.raises(ZeroDivisionError):
        Rewriting({"embed.weight": Changed((6, 4), fails)}).write(source, tmp_path / "b")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_tensor_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(GnomonError, match=r"has no tensor 'nope'; nothing is written\."):
        Rewriting({"nope": DOUBLED["embed.weight"]}).write(folder_of(tmp_path / "a"), tmp_path / "b")


def test_a_full_disk_is_said_in_one_sentence_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    source = folder_of(tmp_path / "a")
    monkeypatch.setattr(shutil, "copyfile", full)
    with pytest.raises(GnomonError, match=r"^Cannot write .*b: No space left on device\. Choose another place\.$"):
        Rewriting(DOUBLED).write(source, tmp_path / "b")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_an_output_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    source, there = folder_of(tmp_path / "a"), tmp_path / "there"
    there.mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for output in (there, tmp_path / "link", source):
        with pytest.raises(GnomonError, match="exists already, and nothing is overwritten"):
            Rewriting().write(source, output)
    assert list(there.iterdir()) == []


def test_an_output_inside_the_source_is_refused_through_links_too(tmp_path: Path) -> None:
    source = folder_of(tmp_path / "a")
    (tmp_path / "alias").symlink_to(source)
    for output in (source / "b", tmp_path / "alias" / "b"):
        with pytest.raises(GnomonError, match="which is only read; write somewhere else"):
            Rewriting().write(source, output)
    assert not (source / "b").exists()


def test_an_output_that_cannot_be_made_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    source = folder_of(tmp_path / "a")
    with pytest.raises(GnomonError, match=r"The folder .*missing does not exist; make it"):
        Rewriting().write(source, tmp_path / "missing" / "b")
    for name in ("x" * 300, "null\0byte"):
        with pytest.raises(GnomonError, match=r"^Cannot write .*Choose another place\.$"):
            require_new_folder(tmp_path / name)


def test_a_relative_output_stands_in_the_workingfolder_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = folder_of(tmp_path / "a")
    monkeypatch.chdir(tmp_path)
    Rewriting().write(source, Path("b"))
    assert (tmp_path / "b" / "model.safetensors").exists()


def test_a_folder_of_an_adapter_is_rewritten_and_one_without_weights_is_not(tmp_path: Path) -> None:
    source = tmp_path / "a"
    source.mkdir()
    with pytest.raises(UnsupportedTargetError, match="save the model as safetensors first"):
        weight_files(source)
    save_file({"a": torch.ones(2)}, source / "adapter_model.safetensors")
    Rewriting().write(source, tmp_path / "b")
    assert [path.name for path in (tmp_path / "b").iterdir()] == ["adapter_model.safetensors"]


def test_a_dtype_that_torch_cannot_read_is_copied_and_not_changed(tmp_path: Path) -> None:
    source = tmp_path / "a"
    source.mkdir()
    header = json.dumps({"packed": {"dtype": "F4", "shape": [4], "data_offsets": [0, 2]}}).encode()
    (source / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + b"\x12\x34")
    Rewriting().write(source, tmp_path / "b")
    assert (tmp_path / "b" / "model.safetensors").read_bytes().endswith(b"\x12\x34")
    with pytest.raises(GnomonError, match="has the dtype F4, whose values torch cannot read"):
        Rewriting({"packed": Changed((4,), lambda old: old)}).write(source, tmp_path / "c")


KILLED = """
import sys, torch
from pathlib import Path
from gnomon.adapters.checkpoints.rewriting import Changed, Rewriting
def slow(old):
    print("inside", flush=True)
    import time; time.sleep(60)
Rewriting({"embed.weight": Changed((6, 4), slow)}).write(Path(sys.argv[1]), Path(sys.argv[2]))
"""


def test_a_run_that_is_killed_outright_leaves_no_folder_of_that_name(tmp_path: Path) -> None:
    source = folder_of(tmp_path / "a")
    command = [sys.executable, "-c", KILLED, str(source), str(tmp_path / "b")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "inside\n"
        child.send_signal(signal.SIGKILL)
    assert not (tmp_path / "b").exists()
    assert [path.name for path in tmp_path.iterdir() if not path.name.startswith(".")] == ["a"]
