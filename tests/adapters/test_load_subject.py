"""Which reader a target goes to, and what is said of targets that none of them reads."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from gnomon.adapters import load_subject
from gnomon.adapters.subject import MissingEvidence
from gnomon.errors import UnsupportedTargetError


def test_a_safetensors_file_alone_gives_tensors_and_says_what_else_would_take(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    save_file({"a": torch.ones(2)}, path)
    subject = load_subject(path)
    assert subject.tensors.load("a").tolist() == [1.0, 1.0]
    assert subject.trained
    for name in ("config", "claims", "module", "example"):
        with pytest.raises(MissingEvidence, match="give the folder that holds it"):
            subject.get(name)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("model.onnx", "cannot be read as ONNX|holds no ONNX graph"),
        ("model.bin", "a pickle without a config"),
        ("model.ckpt", "a pickle without a config"),
        ("model.txt", "not a kind of file that gnomon reads"),
        ("model", "not a kind of file that gnomon reads"),
        ("MODEL.GGUF", "too short for a header"),
        ("config.JSON", "is not valid JSON"),
    ],
)
def test_a_file_goes_by_its_ending(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / name).write_bytes(b"x")
    with pytest.raises(UnsupportedTargetError, match=message):
        load_subject(tmp_path / name)


@pytest.mark.parametrize("target", ["no/such/folder", "missing.gguf", "bert-base-uncased", "", "a\0b", "x" * 5000])
def test_a_target_that_is_not_there_is_one_sentence_with_the_kinds_there_are(tmp_path: Path, target: str) -> None:
    where = str(tmp_path / target) if target == "" else target
    with pytest.raises(UnsupportedTargetError, match=r"is empty|There is no file or folder .* package\.module:factory"):
        load_subject(where)


@pytest.mark.parametrize("name", ["x.gguf", "x.safetensors", "x.json"])
def test_a_pipe_does_not_hang(tmp_path: Path, name: str) -> None:
    import os

    os.mkfifo(tmp_path / name)
    with pytest.raises(UnsupportedTargetError, match="not a regular file"):
        load_subject(tmp_path / name)


@pytest.mark.parametrize("target", ["", "  "])
def test_an_empty_target_is_said_to_be_empty(target: str) -> None:
    with pytest.raises(UnsupportedTargetError, match=r"^The target is empty; a target is a Hugging Face folder"):
        load_subject(target)


def test_the_home_of_a_user_who_does_not_exist_is_one_sentence() -> None:
    with pytest.raises(UnsupportedTargetError, match="There is no file or folder"):
        load_subject("~no-such-user-here/model")
