"""Folders that are broken, or that bring code and pickles: one sentence for each, and nothing is executed."""

import os
import pickle
from pathlib import Path
from typing import Any

import pytest
import torch

from gnomon.adapters import load_subject
from gnomon.adapters.subject import MissingEvidence
from gnomon.errors import UnsupportedTargetError
from tests.helpers.tiny_transformers import LENGTH, WIDTH, edit_config, save_tiny, tiny_model


def _pickled(folder: Path) -> Path:
    """The same weights as pytorch_model.bin instead of safetensors."""
    state = tiny_model("bert").state_dict()
    torch.save(state, folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    return folder


@pytest.mark.parametrize("model_type", ["bert", "martian"])
def test_code_in_the_folder_is_never_executed(tmp_path: Path, model_type: str, no_network: None) -> None:
    folder, marker = save_tiny(tmp_path / "m"), tmp_path / "executed"
    code = f"open({str(marker)!r}, 'w').close()\n"
    for name in ("modeling_x.py", "configuration_x.py", "custom_generate/generate.py", "__init__.py"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(code)
    mapping = {"AutoConfig": "configuration_x.XConfig", "AutoModel": "modeling_x.XModel"}
    edit_config(folder, auto_map=mapping, model_type=model_type, trust_remote_code=True, architectures=["XModel"])
    subject = load_subject(folder)
    if model_type == "bert":
        assert subject.module(**subject.example).last_hidden_state.shape[0] == 2
    else:
        with pytest.raises(MissingEvidence, match="auto_map names code in the checkpoint, which gnomon never runs"):
            _ = subject.module
    assert not marker.exists()
    exec(compile(code, "modeling_x.py", "exec"))  # the trap does spring when run
    assert marker.exists()


def test_a_pickle_is_refused_unless_allowed(tmp_path: Path) -> None:
    folder = _pickled(save_tiny(tmp_path / "m"))
    refused = load_subject(folder)
    for name in ("tensors", "module"):
        with pytest.raises(MissingEvidence, match=r"pytorch_model\.bin, a pickle.*--allow-pickle"):
            refused.get(name)
    assert not refused.trained
    allowed = load_subject(folder, allow_pickle=True)
    assert allowed.tensors.info("embeddings.position_embeddings.weight").shape == (LENGTH, WIDTH)
    module: Any = allowed.module
    table = allowed.tensors.load("embeddings.position_embeddings.weight")
    assert torch.equal(module.embeddings.position_embeddings.weight, table)


class _Trap:
    def __init__(self, marker: str) -> None:
        self.marker = marker

    def __reduce__(self) -> Any:
        return os.mkdir, (self.marker,)


@pytest.mark.parametrize("by", ["torch", "pickle"])
def test_a_malicious_pickle_is_never_executed(tmp_path: Path, by: str) -> None:
    folder, marker = _pickled(save_tiny(tmp_path / "m")), tmp_path / "executed"
    bomb = {"embeddings.position_embeddings.weight": _Trap(str(marker))}
    if by == "torch":
        torch.save(bomb, folder / "pytorch_model.bin")
    else:
        (folder / "pytorch_model.bin").write_bytes(pickle.dumps(bomb))
    load_subject(folder)
    with pytest.raises(UnsupportedTargetError, match="never runs what a pickle holds"):
        load_subject(folder, allow_pickle=True)
    assert not marker.exists()
    pickle.loads(pickle.dumps(bomb))  # the trap does spring when run
    assert marker.exists()


def _broken(path: Path, how: str) -> Path:
    path.mkdir()
    config = path / "config.json"
    if how == "a list":
        config.write_text("[1]")
    elif how == "broken":
        config.write_text('{"model_type": ')
    elif how == "deep":
        config.write_text("[" * 100_000)
    elif how == "byte-order mark":
        config.write_bytes(b"\xef\xbb\xbf{}")
    elif how == "binary":
        config.write_bytes(b"\xff\xfe\x00")
    elif how == "huge":
        with config.open("wb") as file:
            file.truncate(17 * 2**20)
    elif how == "a folder":
        config.mkdir()
    elif how == "a pipe":
        os.mkfifo(config)
    elif how == "no config":
        (path / "model.safetensors").write_bytes(b"")
    return path


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("empty", "is empty"),
        ("no config", r"has no config\.json"),
        ("a list", "must hold a JSON object, but it holds a list"),
        ("broken", "is not valid JSON"),
        ("deep", "nested too deeply"),
        ("byte-order mark", "starts with a byte-order mark; save it as UTF-8 without one"),
        ("binary", "is not valid JSON"),
        ("huge", "more than the 16,777,216"),
        ("a folder", "is a folder, where a file is expected"),
        ("a pipe", "is not a regular file"),
    ],
)
def test_a_folder_without_a_usable_config_is_one_sentence(tmp_path: Path, how: str, message: str) -> None:
    with pytest.raises(UnsupportedTargetError, match=message) as caught:
        load_subject(_broken(tmp_path / "m", how))
    assert "\n" not in str(caught.value)


def test_files_that_the_system_refuses_are_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = save_tiny(tmp_path / "m")

    def refuse(*args: object, **more: object) -> None:
        raise PermissionError(13, "Permission denied")

    for method in ("read_bytes", "open", "iterdir"):
        with monkeypatch.context() as patch:
            patch.setattr(Path, method, refuse)
            with pytest.raises(UnsupportedTargetError, match="cannot be read: Permission denied"):
                load_subject(folder)


def test_a_broken_tokenizer_config_is_missing_evidence_and_no_more(tmp_path: Path) -> None:
    folder = save_tiny(tmp_path / "m")
    (folder / "tokenizer_config.json").write_text("{")
    subject = load_subject(folder)
    with pytest.raises(MissingEvidence, match="is not valid JSON"):
        _ = subject.tokenizer
    assert subject.claims
