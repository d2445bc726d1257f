"""Folders of sentence-transformers: those that modules.json lists are copied, and nothing outside the checkpoint."""

import json
import os
from pathlib import Path

import pytest

from gnomon.adapters.checkpoints.module_folders import module_folders
from gnomon.adapters.checkpoints.rewriting import Rewriting
from tests.helpers.tiny_transformers import save_tiny


def test_listed_folders_go_along_with_what_is_in_them(tmp_path: Path) -> None:
    source = save_tiny(tmp_path / "a")
    (source / "1_Pooling" / "deep").mkdir(parents=True)
    (source / "1_Pooling" / "config.json").write_text("{}")
    (source / "1_Pooling" / "deep" / "model.safetensors").write_bytes(b"dense")
    os.mkfifo(source / "1_Pooling" / "pipe")
    (source / "onnx").mkdir()
    (source / "modules.json").write_text(json.dumps([{"path": ""}, {"path": "1_Pooling"}, {"path": "2_Normalize"}]))
    done = Rewriting().write(source, tmp_path / "b")
    assert done.left_behind == ("onnx",)
    copied = {str(path.relative_to(tmp_path / "b" / "1_Pooling")) for path in (tmp_path / "b" / "1_Pooling").rglob("*")}
    assert copied == {"config.json", "deep", "deep/model.safetensors"}
    assert (tmp_path / "b" / "1_Pooling" / "deep" / "model.safetensors").read_bytes() == b"dense"


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "[",
        "[1]",
        '[{"path": 3}]',
        '[{"path": ".."}]',
        '[{"path": "../b"}]',
        '[{"path": "/etc"}]',
        "[" * 99999,
    ],
)
def test_other_lists_name_no_folder(tmp_path: Path, text: str) -> None:
    (tmp_path / "modules.json").write_text(text)
    assert module_folders(tmp_path) == frozenset()


def test_without_the_file_there_is_none(tmp_path: Path) -> None:
    assert module_folders(tmp_path) == frozenset()
