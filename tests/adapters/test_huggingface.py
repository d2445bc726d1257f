"""Hugging Face folders and config files: what is read, what is refused, and what is never executed."""

import json
import os
import pickle
import socket
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from gnomon.adapters import load_subject
from gnomon.adapters.subject import MissingEvidence
from gnomon.errors import UnsupportedTargetError
from tests.helpers.tiny_transformers import LENGTH, VOCABULARY, WIDTH, tiny_fields, tiny_model


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object) -> None:
        raise AssertionError(f"a connection was opened: {args}")

    monkeypatch.setattr(socket.socket, "connect", refuse)


def _folder(path: Path, model_type: str = "bert", **more: Any) -> Path:
    model: Any = tiny_model(model_type, **more)
    model.save_pretrained(path)
    return path


def _edit_config(folder: Path, **fields: Any) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | fields))


def _pickled(folder: Path) -> Path:
    """The same weights as pytorch_model.bin instead of safetensors."""
    state = tiny_model("bert").state_dict()
    torch.save(state, folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    return folder


def test_a_folder_gives_config_claims_tensors_module_and_example(tmp_path: Path, no_network: None) -> None:
    folder = _folder(tmp_path / "m")
    (folder / "tokenizer_config.json").write_text('{"model_max_length": 512}')
    subject = load_subject(folder)
    assert subject.config["model_type"] == "bert"
    [claim] = subject.claims
    assert claim.options == {"dim": WIDTH, "max_length": LENGTH, "rows": LENGTH, "padding_offset": 0}
    assert subject.get("family").architecture == "encoder"
    assert subject.trained
    assert subject.tokenizer["model_max_length"] == 512
    table = subject.tensors.load("embeddings.position_embeddings.weight")
    module: Any = subject.module
    assert torch.equal(module.embeddings.position_embeddings.weight, table)
    assert not module.training
    assert subject.get("loading") == {"missing": [], "unexpected": [], "mismatched": []}
    assert subject.module is module
    assert module(**subject.example).last_hidden_state.shape == (2, 12, WIDTH)


def test_the_class_is_the_one_that_architectures_names(tmp_path: Path) -> None:
    from transformers import AutoConfig, LlamaForCausalLM

    LlamaForCausalLM(AutoConfig.for_model(**tiny_fields("llama"))).save_pretrained(tmp_path / "m")
    assert type(load_subject(tmp_path / "m").module).__name__ == "LlamaForCausalLM"
    _edit_config(tmp_path / "m", architectures=["Trainer", "NoSuchModel", 3])
    assert type(load_subject(tmp_path / "m").module).__name__ == "LlamaModel"


def test_shards_are_read_as_one(tmp_path: Path) -> None:
    model: Any = tiny_model("bert")
    model.save_pretrained(tmp_path / "m", max_shard_size="20KB")
    assert len(list((tmp_path / "m").glob("*.safetensors"))) > 1
    subject = load_subject(tmp_path / "m")
    assert {info.name for info in subject.tensors} == set(model.state_dict())
    for name, tensor in model.state_dict().items():
        assert torch.equal(subject.tensors.load(name), tensor)
    loaded: Any = subject.module
    assert torch.equal(loaded.embeddings.word_embeddings.weight, model.embeddings.word_embeddings.weight)


@pytest.mark.parametrize(("dtype", "expected"), [(None, torch.float32), ("bfloat16", torch.bfloat16)])
def test_the_model_has_the_dtype_asked_for_whatever_the_file_has(
    tmp_path: Path, dtype: str | None, expected: torch.dtype
) -> None:
    model: Any = tiny_model("bert").half()
    model.save_pretrained(tmp_path / "m")
    subject = load_subject(tmp_path / "m", dtype=dtype)
    assert {parameter.dtype for parameter in subject.module.parameters()} == {expected}
    assert subject.tensors.info("embeddings.position_embeddings.weight").dtype == "float16"


def test_missing_and_unexpected_keys_are_kept_as_evidence(tmp_path: Path) -> None:
    from safetensors.torch import save_file

    folder = _folder(tmp_path / "m")
    state = {name: t.clone() for name, t in load_subject(folder).module.state_dict().items()}
    del state["embeddings.position_embeddings.weight"]
    save_file(state | {"stray": torch.ones(1)}, folder / "model.safetensors", metadata={"format": "pt"})
    loading = load_subject(folder).get("loading")
    assert loading["missing"] == ["embeddings.position_embeddings.weight"]
    assert loading["unexpected"] == ["stray"]


def test_a_table_that_contradicts_the_config_is_missing_evidence_for_the_model_only(tmp_path: Path) -> None:
    folder = _folder(tmp_path / "m")
    _edit_config(folder, max_position_embeddings=LENGTH + 3)
    subject = load_subject(folder)
    with pytest.raises(MissingEvidence, match=r"^transformers cannot load the model: RuntimeError: [^\n]*$"):
        _ = subject.module
    assert subject.claims[0].options["rows"] == LENGTH + 3
    assert subject.tensors.info("embeddings.position_embeddings.weight").shape == (LENGTH, WIDTH)


def test_without_forward_there_is_no_model(tmp_path: Path) -> None:
    subject = load_subject(_folder(tmp_path / "m"), forward=False)
    for name in ("module", "example", "loading"):
        with pytest.raises(MissingEvidence, match="--no-forward was given"):
            subject.get(name)


def test_an_unknown_model_type_leaves_the_rest_of_the_evidence(tmp_path: Path) -> None:
    folder = _folder(tmp_path / "m")
    _edit_config(folder, model_type="martian", architectures=None)
    subject = load_subject(folder)
    with pytest.raises(MissingEvidence, match="'martian' is not one gnomon knows"):
        _ = subject.claims
    with pytest.raises(MissingEvidence, match="transformers cannot load the model"):
        _ = subject.module
    assert subject.tensors.load("embeddings.position_embeddings.weight").shape == (LENGTH, WIDTH)


@pytest.mark.parametrize("model_type", ["bert", "martian"])
def test_code_in_the_folder_is_never_executed(tmp_path: Path, model_type: str, no_network: None) -> None:
    folder, marker = _folder(tmp_path / "m"), tmp_path / "executed"
    code = f"open({str(marker)!r}, 'w').close()\n"
    for name in ("modeling_x.py", "configuration_x.py", "custom_generate/generate.py", "__init__.py"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(code)
    mapping = {"AutoConfig": "configuration_x.XConfig", "AutoModel": "modeling_x.XModel"}
    _edit_config(folder, auto_map=mapping, model_type=model_type, trust_remote_code=True, architectures=["XModel"])
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
    folder = _pickled(_folder(tmp_path / "m"))
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
    folder, marker = _pickled(_folder(tmp_path / "m")), tmp_path / "executed"
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


def test_a_config_alone_gives_claims_and_the_same_random_model_each_time(tmp_path: Path, no_network: None) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(tiny_fields("llama")))
    state = torch.random.get_rng_state()
    first, second = (load_subject(path) for _ in range(2))
    assert isinstance(first.module, nn.Module)
    assert torch.equal(torch.random.get_rng_state(), state)
    torch.rand(1)
    assert [claim.kind for claim in first.claims] == ["rotary"]
    for one, other in zip(first.module.parameters(), second.module.parameters(), strict=True):
        assert torch.equal(one, other)
    assert not first.trained
    with pytest.raises(MissingEvidence, match="holds no tensors"):
        _ = first.tensors


def test_a_config_of_a_large_model_is_not_built(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(tiny_fields("llama") | {"hidden_size": 8192, "vocab_size": 100_000}))
    subject = load_subject(path)
    assert subject.claims[0].options["head_dim"] == 2048
    with pytest.raises(MissingEvidence, match="too many to build with random weights"):
        _ = subject.module


def test_loading_is_quiet_and_puts_settings_back(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import huggingface_hub.constants
    from transformers.utils import logging as theirs

    folder = _folder(tmp_path / "m")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    theirs.set_verbosity_warning()
    theirs.enable_progress_bar()
    before = (theirs.get_verbosity(), theirs.is_progress_bar_enabled(), huggingface_hub.constants.HF_HUB_OFFLINE)
    capfd.readouterr()
    _ = load_subject(folder).module
    assert capfd.readouterr() == ("", "")
    after = (theirs.get_verbosity(), theirs.is_progress_bar_enabled(), huggingface_hub.constants.HF_HUB_OFFLINE)
    assert before == after


def _broken(path: Path, how: str) -> Path:
    path.mkdir()
    config = path / "config.json"
    if how == "a list":
        config.write_text("[1]")
    elif how == "broken":
        config.write_text('{"model_type": ')
    elif how == "deep":
        config.write_text("[" * 100_000)
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
    folder = _folder(tmp_path / "m")

    def refuse(*args: object, **more: object) -> None:
        raise PermissionError(13, "Permission denied")

    for method in ("read_bytes", "open", "iterdir"):
        with monkeypatch.context() as patch:
            patch.setattr(Path, method, refuse)
            with pytest.raises(UnsupportedTargetError, match="cannot be read: Permission denied"):
                load_subject(folder)


def test_a_broken_tokenizer_config_is_missing_evidence_and_no_more(tmp_path: Path) -> None:
    folder = _folder(tmp_path / "m")
    (folder / "tokenizer_config.json").write_text("{")
    subject = load_subject(folder)
    with pytest.raises(MissingEvidence, match="is not valid JSON"):
        _ = subject.tokenizer
    assert subject.claims


@pytest.mark.parametrize("model_type", ["gpt2", "opt", "roberta", "t5", "whisper", "bart", "bloom", "gptj", "mpt"])
def test_an_example_is_drawn_that_each_family_accepts(tmp_path: Path, model_type: str) -> None:
    subject = load_subject(_folder(tmp_path / "m", model_type))
    example = subject.example
    with torch.no_grad():
        output = subject.module(**example)[0]
    assert output.shape[0] == 2
    ids = example["input_ids" if "input_ids" in example else "decoder_input_ids"]
    assert ids.max() < VOCABULARY
    pad = subject.config.get("pad_token_id")
    assert pad is None or pad not in ids
    again = load_subject(tmp_path / "m").example
    assert all(torch.equal(example[name], again[name]) for name in example)


def test_an_example_is_never_longer_than_the_model_allows(tmp_path: Path) -> None:
    subject = load_subject(_folder(tmp_path / "m", "roberta", max_position_embeddings=9))
    assert subject.example["input_ids"].shape == (2, 7)
    assert isinstance(subject.module, nn.Module)
    assert subject.module(**subject.example)[0].shape == (2, 7, WIDTH)
