"""`gnomon advise`: options become facts, the advice goes where it should, contradictions end with 2."""

import json
from pathlib import Path

import pytest

from gnomon.advisor.task import Limit, Task
from gnomon.cli.advise import LIMITS, TASKS
from tests.helpers.command import gnomon, sentence


def test_the_words_in_the_help_are_those_that_exist() -> None:
    assert TASKS.split(", ") == [*Task]
    assert LIMITS.split(", ") == [*Limit]


def test_text_names_the_first_choice_and_ends_with_0() -> None:
    outcome = gnomon("advise", "--task", "language-model", "--trained", "512", "--target", "4096")
    assert outcome.code == 0
    assert outcome.stderr == ""
    assert "\n1. alibi, 4 points:" in outcome.stdout
    assert "Rules that fired" not in outcome.stdout


def test_every_option_of_the_contract_is_taken(tmp_path: Path) -> None:
    lengths = tmp_path / "lengths.jsonl"
    lengths.write_text('{"length": 100}\n{"length": 400}\n', encoding="utf-8")
    given = ["--lengths", str(lengths), "--trained", "512", "--target", "2048", "--relative", "--device", "edge"]
    outcome = gnomon("advise", *given, "--format", "json")
    found = json.loads(outcome.stdout)
    wanted = {"trained": 512, "target": 2048, "need": "relative", "device": "edge", "p95": 400, "longest": 400}
    assert {key: found["facts"][key] for key in wanted} == wanted


def test_the_other_options_are_taken() -> None:
    words = (
        "--task classification --no-causal --absolute --p50 60 --p95 180 --percentile 90=150 --max 240 --no-cut "
        "--data-size 30000t --kernels onnx,torch-compile --dim 384 --heads 6 --head-dim 64 --key-heads 2 --layers 4 "
        "--batch 3 --dtype float32 --format json"
    )
    found = json.loads(gnomon("advise", *words.split()).stdout)
    facts = found["facts"]
    assert (facts["causal"], facts["need"], facts["p50"], facts["p95"], facts["longest"]) == (
        *(False, "absolute", 60, 180, 240),
    )
    assert (facts["examples"], facts["limits"]) == (500, ["onnx", "torch-compile"])  # 30000 / 60
    assert (facts["dim"], facts["num_heads"], facts["head_dim"]) == (384, 6, 64)
    table = next(it for it in found["recommendations"] if it["name"] == "learned")
    assert table["options"]["max_length"] == 240
    assert [cost["value"] for cost in table["costs"] if cost["unit"] == "bytes"] == [240 * 384 * 4]


def test_the_cache_is_that_of_all_sequences_served_at_once() -> None:
    words = "--task code --trained 64 --dim 32 --heads 4 --key-heads 2 --layers 3 --batch 5 --format json"
    [cost, *_] = json.loads(gnomon("advise", *words.split()).stdout)["recommendations"][0]["costs"]
    assert (cost["name"], cost["value"]) == ("cache of keys and values", 2 * 3 * 2 * 8 * 64 * 5 * 2)  # 2 bytes each


def test_a_family_and_whether_it_may_be_trained() -> None:
    words = ["--family", "llama", "--trained", "4096", "--target", "8192", "--no-fine-tune"]
    outcome = gnomon("advise", *words)
    assert "\n1. yarn" in outcome.stdout
    assert "factor 2, attention_factor 1.069" in outcome.stdout


def test_a_checkpoint_is_read_from_its_config(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    config = {"model_type": "gpt2", "n_embd": 48, "n_head": 4, "n_layer": 2, "n_positions": 128, "vocab_size": 99}
    path.write_text(json.dumps(config), encoding="utf-8")
    outcome = gnomon("advise", "--checkpoint", str(path), "--target", "256")
    assert "\n1. interpolate" in outcome.stdout
    assert "max_length=256" in outcome.stdout


def test_the_trace_is_shown_with_explain() -> None:
    outcome = gnomon("advise", "--task", "pairs", "--explain")
    assert "Rules that fired" in outcome.stdout
    assert "relative_need: Where relations between tokens decide" in " ".join(outcome.stdout.split())


def test_a_file_holds_what_stdout_would(tmp_path: Path) -> None:
    path = tmp_path / "advice.json"
    outcome = gnomon("advise", "--task", "code", "--format", "json", "--output", str(path))
    assert (outcome.stdout, outcome.stderr) == ("", f"gnomon: wrote {path}\n")
    assert json.loads(path.read_text(encoding="utf-8")) == json.loads(
        gnomon("advise", "--task", "code", "--format", "json").stdout
    )


REFUSED = [
    ("", "Say what the advice is for: --task"),
    ("--task code --relative --absolute", "--relative and --absolute exclude each other"),
    ("--task code --trained 512 --target 100", "shorter than the trained length"),
    ("--task code --p95 500 --max 400", "percentile 95 is 500 tokens and the longest input is 400"),
    ("--task code --percentile 95", "A percentile is P=TOKENS, as in --percentile 95=480; got '95'"),
    ("--task code --percentile 95=10 --p95 11", "Percentile 95 is given twice, as 11 and 10"),
    ("--task code --data-size many", "--data-size is a number of examples"),
    ("--task code --kernels fast", "The limit is one of flash-attention"),
    ("--task images --causal", "sees the whole grid, and --causal"),
    ("--task code --head-dim 63", "head_dim 63 is odd"),
    ("--task code --device phone", "'phone' is not one of 'edge', 'server'"),
    ("--task code --trained -3", "must be a whole number from 1"),
    ("--task code --lengths no-such-file", "There is no text file of lengths"),
    ("--family nobody", "No model family is called 'nobody'"),
    ("--task code --output no/such/folder/x.txt", "The folder no/such/folder does not exist"),
]


@pytest.mark.parametrize(("words", "reason"), REFUSED, ids=[words or "nothing" for words, _ in REFUSED])
def test_bad_input_ends_with_2_and_one_sentence(words: str, reason: str) -> None:
    assert reason in sentence(gnomon("advise", *words.split()))


def test_an_empty_file_of_lengths_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "empty.txt"
    path.write_text("\n", encoding="utf-8")
    assert "There is no length" in sentence(gnomon("advise", "--lengths", str(path)))
