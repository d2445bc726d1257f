"""Hugging Face folders and config files: what is read from them, and which model and example come out."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from gnomon.adapters import load_subject
from gnomon.adapters.subject import MissingEvidence
from tests.helpers.tiny_transformers import LENGTH, VOCABULARY, WIDTH, edit_config, save_tiny, tiny_fields, tiny_model


def test_a_folder_gives_config_claims_tensors_module_and_example(tmp_path: Path, no_network: None) -> None:
    folder = save_tiny(tmp_path / "m")
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
    edit_config(tmp_path / "m", architectures=["Trainer", "NoSuchModel", 3])
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

    folder = save_tiny(tmp_path / "m")
    state = {name: t.clone() for name, t in load_subject(folder).module.state_dict().items()}
    del state["embeddings.position_embeddings.weight"]
    save_file(state | {"stray": torch.ones(1)}, folder / "model.safetensors", metadata={"format": "pt"})
    loading = load_subject(folder).get("loading")
    assert loading["missing"] == ["embeddings.position_embeddings.weight"]
    assert loading["unexpected"] == ["stray"]


def test_a_table_that_contradicts_the_config_is_missing_evidence_for_the_model_only(tmp_path: Path) -> None:
    folder = save_tiny(tmp_path / "m")
    edit_config(folder, max_position_embeddings=LENGTH + 3)
    subject = load_subject(folder)
    with pytest.raises(MissingEvidence, match=rf"cannot load the model: \S+ is {LENGTH} x {WIDTH} in the file"):
        _ = subject.module
    shapes = (LENGTH, WIDTH), (LENGTH + 3, WIDTH)
    assert subject.get("loading")["mismatched"] == [("embeddings.position_embeddings.weight", *shapes)]
    assert subject.claims[0].options["rows"] == LENGTH + 3
    assert subject.tensors.info("embeddings.position_embeddings.weight").shape == (LENGTH, WIDTH)


def test_without_forward_there_is_no_model(tmp_path: Path) -> None:
    subject = load_subject(save_tiny(tmp_path / "m"), forward=False)
    for name in ("module", "example", "loading"):
        with pytest.raises(MissingEvidence, match="--no-forward was given"):
            subject.get(name)


def test_an_unknown_model_type_leaves_the_rest_of_the_evidence(tmp_path: Path) -> None:
    folder = save_tiny(tmp_path / "m")
    edit_config(folder, model_type="martian", architectures=None)
    subject = load_subject(folder)
    with pytest.raises(MissingEvidence, match="'martian' is not one gnomon knows"):
        _ = subject.claims
    with pytest.raises(MissingEvidence, match="transformers cannot load the model"):
        _ = subject.module
    assert subject.tensors.load("embeddings.position_embeddings.weight").shape == (LENGTH, WIDTH)


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

    folder = save_tiny(tmp_path / "m")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    theirs.set_verbosity_warning()
    theirs.enable_progress_bar()
    before = (theirs.get_verbosity(), theirs.is_progress_bar_enabled(), huggingface_hub.constants.HF_HUB_OFFLINE)
    capfd.readouterr()
    _ = load_subject(folder).module
    assert capfd.readouterr() == ("", "")
    after = (theirs.get_verbosity(), theirs.is_progress_bar_enabled(), huggingface_hub.constants.HF_HUB_OFFLINE)
    assert before == after


@pytest.mark.parametrize("model_type", ["gpt2", "opt", "roberta", "t5", "whisper", "bart", "bloom", "gptj", "mpt"])
def test_an_example_is_drawn_that_each_family_accepts(tmp_path: Path, model_type: str) -> None:
    subject = load_subject(save_tiny(tmp_path / "m", model_type))
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
    subject = load_subject(save_tiny(tmp_path / "m", "roberta", max_position_embeddings=9))
    assert subject.example["input_ids"].shape == (2, 7)
    assert isinstance(subject.module, nn.Module)
    assert subject.module(**subject.example)[0].shape == (2, 7, WIDTH)
