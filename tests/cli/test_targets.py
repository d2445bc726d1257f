"""The command with the real doctor behind it: what cannot be read is a sentence, what can is examined."""

import json
from pathlib import Path

import pytest

from tests.helpers.command import gnomon, sentence

LLAMA = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "num_hidden_layers": 2,
    "max_position_embeddings": 128,
    "vocab_size": 97,
    "rope_parameters": {"rope_type": "default", "rope_theta": 5000.0},
}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / "config.json"
    file.write_text(json.dumps(LLAMA))
    return file


@pytest.mark.parametrize("command", ["doctor", "inspect"])
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("nothing-here", None),
        ("config.json", '{"model_type": "llama", '),
        ("config.json", "[1, 2]"),
        ("config.json", ""),
        ("model.gguf", "GGUF" + "\x00" * 9),
        ("model.gguf", "not a model"),
        ("model.onnx", "x"),
        ("notes.txt", "hello"),
    ],
)
def test_a_file_that_cannot_be_read_is_a_sentence(tmp_path: Path, command: str, name: str, content: str | None) -> None:
    file = tmp_path / name
    if content is not None:
        file.write_text(content)
    assert name in sentence(gnomon(command, str(file)))


def test_an_empty_folder_is_a_sentence(tmp_path: Path) -> None:
    assert str(tmp_path) in sentence(gnomon("doctor", str(tmp_path)))


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("no_such_package.models:make", "cannot be imported"),
        ("json:no_such_factory", "no 'no_such_factory'"),
        ("json:dumps", "raised TypeError"),
    ],
)
def test_a_factory_that_does_not_work_is_a_sentence(target: str, said: str) -> None:
    assert said in sentence(gnomon("doctor", target))


def test_a_check_that_does_not_exist_is_a_sentence(config: Path) -> None:
    assert "'PE9'" in sentence(gnomon("doctor", str(config), "--select", "PE9"))


@pytest.mark.parametrize("option", [("--device", "warp"), ("--device", "cuda:77")])
def test_a_device_that_does_not_exist_is_a_sentence(config: Path, option: tuple[str, str]) -> None:
    assert option[1] in sentence(gnomon("doctor", str(config), *option))


def test_a_config_is_examined_and_its_encoding_named(config: Path) -> None:
    outcome = gnomon("doctor", str(config), "--no-forward", "--format", "json")
    report = json.loads(outcome.stdout)
    assert outcome.code == 0
    [found] = report["encodings"]
    assert found["kind"] == "rotary"
    assert found["options"]["frequencies"]["base"] == 5000.0
    assert report["summary"]["passed"] > 0
    assert report["summary"]["crashed"] == 0


def test_select_and_ignore_choose_checks_by_prefix(config: Path) -> None:
    words = ("--no-forward", "--format", "json", "--select", "PE1,PE2", "--ignore", "PE2")
    report = json.loads(gnomon("doctor", str(config), *words).stdout)
    assert {check["code"][:3] for check in report["checks"]} == {"PE1"}


def test_inspect_names_the_encoding_with_its_numbers(config: Path) -> None:
    text = gnomon("inspect", str(config), "--no-forward").stdout
    assert "rotary" in text
    assert "5000" in text
