"""`gnomon resolve`: text, JSON, exit codes, stacks by name, the gallery, and one sentence where it cannot run."""

import json
from pathlib import Path

import pytest

from gnomon.resolving.gallery import gallery
from gnomon.resolving.stack import registry
from tests.helpers.command import gnomon, sentence

CONFIGS = {entry.name: entry.config for entry in gallery()}


@pytest.fixture
def gpt_oss(tmp_path: Path) -> str:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(CONFIGS["gpt-oss-20b"]))
    return str(path)


def test_text_goes_to_stdout_and_nothing_to_stderr(gpt_oss: str) -> None:
    outcome = gnomon("resolve", gpt_oss)
    assert outcome.code == 0  # stacks that nobody asked for may differ
    assert outcome.stderr == ""
    assert outcome.stdout.startswith(gpt_oss)
    assert "llama.cpp (by reading) ignores `rope_scaling.truncate: false`: pair 17 is off by 76%" in " ".join(
        outcome.stdout.split()
    )
    assert max(map(len, outcome.stdout.splitlines())) <= max(100, len(gpt_oss))


def test_a_stack_that_was_asked_for_and_differs_ends_with_1(gpt_oss: str) -> None:
    assert gnomon("resolve", gpt_oss, "--stack", "llama.cpp").code == 1
    assert gnomon("resolve", gpt_oss, "--stack", "vllm,sglang").code == 0


def test_a_fault_of_the_file_at_error_level_ends_with_1(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({**CONFIGS["llama-2-7b"], "rope_scaling": {"factor": 4.0}}))
    outcome = gnomon("resolve", str(path), "--stack", "hf5")
    assert outcome.code == 1
    assert "PE106 error, rope_scaling" in outcome.stdout


def test_lengths_served_and_reference_reach_the_resolver(gpt_oss: str) -> None:
    words = ("--length", "1000", "--length", "2000", "--served", "8192", "--reference", "vllm", "--stack", "hf5")
    found = json.loads(gnomon("resolve", gpt_oss, *words, "--format", "json").stdout)
    assert found["lengths"] == [1000, 2000, 4096, 4097]
    assert found["served"] == 8192
    assert found["reference"].startswith("vllm@")
    assert [column["stack"] for column in found["columns"]] == ["vllm", "hf5"]


def test_the_result_goes_into_a_file(gpt_oss: str, tmp_path: Path) -> None:
    outcome = gnomon("resolve", gpt_oss, "--format", "json", "--output", str(tmp_path / "out.json"))
    assert outcome.stdout == ""
    assert outcome.stderr == f"gnomon: wrote {tmp_path / 'out.json'}\n"
    assert json.loads((tmp_path / "out.json").read_text())["schema_version"] == 1


def test_the_list_names_every_stack_and_version() -> None:
    lines = gnomon("resolve", "--list").stdout.splitlines()
    named = [f"{name}@{version.name}" for name, kind in registry for version in kind.versions]
    assert [line.split()[0] for line in lines] == named
    assert "run" in lines[named.index("hf5@5")].split()


def test_the_list_as_json_has_the_same_engines() -> None:
    listed = json.loads(gnomon("resolve", "--list", "--format", "json").stdout)
    named = [(name, version.name) for name, kind in registry for version in kind.versions]
    assert [(each["stack"], each["version"]) for each in listed] == named
    assert {each["sure"] for each in listed} == {"run", "by reading"}


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"model_type": "bert"}, "bert has a learned table of positions and no rotation."),
        ({"model_type": "gpt2"}, "gpt2 has a learned table of positions and no rotation."),
        ({"model_type": "opt"}, "opt has a learned table of positions and no rotation."),
        ({"model_type": "roberta"}, "roberta has a learned table of positions and no rotation."),
        ({"model_type": "vit"}, "vit has a learned table of positions and no rotation."),
        ({"model_type": "bloom"}, "bloom has ALiBi's biases and no rotation."),
        ({"model_type": "t5"}, "t5 has T5's biases and no rotation."),
        ({}, "the config has no model_type, and no key that bears on positions."),
    ],
)
def test_where_nothing_turns_there_is_nothing_to_resolve(config: dict[str, str], said: str, tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config))
    outcome = gnomon("resolve", str(path))
    assert sentence(outcome).endswith(said)
    assert outcome.stdout == ""


def test_a_reference_that_does_not_serve_the_file_ends_with_2_after_what_there_is(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(CONFIGS["gpt-j-6b"]))
    outcome = gnomon("resolve", str(path), "--stack", "hf5", "--reference", "mlx-lm")
    assert outcome.code == 2
    assert "There is nothing to resolve, since the reference mlx-lm@" in outcome.stderr
    assert "mlx-lm has no model file for 'gptj'" in outcome.stderr
    assert "hf5" in outcome.stdout


def test_the_gallery_as_a_matrix_and_as_json() -> None:
    outcome = gnomon("resolve", "--gallery", "--stack", "vllm,llama.cpp")
    assert outcome.code == 0
    assert outcome.stdout.splitlines()[0].split() == ["hf5", "vllm", "llama.cpp"]
    [line] = [line for line in outcome.stdout.splitlines() if line.startswith("gpt-oss-20b ")]
    assert line.split() == ["gpt-oss-20b", "ref", "=", "DIFF"]
    assert outcome.stderr.splitlines()[0] == "[1/37] resolving Llama-2-7B"
    found = json.loads(gnomon("resolve", "--gallery", "--stack", "hf5", "--format", "json").stdout)
    assert [each["target"] for each in found] == [entry.title for entry in gallery()]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "Give a config.json, a folder or a .gguf file to resolve, or --gallery; one of them."),
        (("x.json", "--gallery"), "one of them."),
        (("/nowhere/x.json",), "There is no file or folder '/nowhere/x.json'"),
        (("/nowhere/x.json", "--length", "x"), "--length"),
    ],
)
def test_what_cannot_run_ends_with_2_and_one_sentence(words: tuple[str, ...], said: str) -> None:
    assert said in sentence(gnomon("resolve", *words))


def test_an_unknown_stack_is_one_sentence(gpt_oss: str) -> None:
    assert "No engine is called 'vlm'. Did you mean 'vllm'?" in sentence(gnomon("resolve", gpt_oss, "--stack", "vlm"))


def test_a_reader_of_ours_that_breaks_is_told_as_such_and_ends_with_1_where_it_was_asked_for(
    gpt_oss: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise KeyError("ours")

    monkeypatch.setattr(registry.get("vllm"), "read", broken)
    found = json.loads(gnomon("resolve", gpt_oss, "--stack", "vllm,sglang", "--format", "json").stdout)
    verdicts = {column["stack"]: (column["status"], column["verdict"]) for column in found["columns"]}
    assert verdicts["vllm"] == ("broken", "broken")
    assert verdicts["sglang"] == ("serves", "equal")
    assert gnomon("resolve", gpt_oss, "--stack", "vllm").code == 1
    assert gnomon("resolve", gpt_oss, "--stack", "sglang").code == 0
    assert gnomon("resolve", gpt_oss, "--stack", "sglang", "--reference", "vllm").code == 1
    assert gnomon("resolve", "--gallery", "--stack", "vllm").code == 1
