"""The examples run as they are printed, without a network, and show what they say."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
OFFLINE = {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}


def output(name: str, *options: str) -> str:
    """What `python examples/NAME OPTIONS` prints; fails when it ends with an error or warns."""
    command = [sys.executable, "-W", "error::UserWarning", str(EXAMPLES / name), *options]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | OFFLINE)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_a_new_encoding_is_used_kept_to_the_contract_examined_and_drawn() -> None:
    printed = output("new_encoding.py")
    assert "attention: (2, 7, 32)" in printed
    assert "contract: kept" in printed
    for check in ("order-blind", "causal-leak", "step-equals-full", "left-padding"):
        assert check in printed
    assert int(re.findall(r"picture: (\d+) bytes", printed)[0]) > 10_000


def test_a_new_encoding_takes_under_40_lines() -> None:
    parsed = ast.parse((EXAMPLES / "new_encoding.py").read_text(encoding="utf-8"))
    [encoding] = [node for node in parsed.body if isinstance(node, ast.ClassDef)]
    first = min(decorator.lineno for decorator in encoding.decorator_list)
    assert "register" in ast.unparse(encoding.decorator_list[0])
    assert encoding.end_lineno is not None
    assert encoding.end_lineno - first + 1 < 40


def test_a_patched_hugging_face_model_gives_what_transformers_gives() -> None:
    own, yarn, scaled = (float(found) for found in re.findall(r"differ by (\S+)", output("patch_huggingface.py")))
    assert own <= 1e-5
    assert yarn <= 1e-5
    assert scaled > 1e-3  # or the two comparisons would hold for any rule


@pytest.mark.parametrize("example", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_every_example_has_a_main_and_says_how_to_run_it(example: str) -> None:
    parsed = ast.parse((EXAMPLES / example).read_text(encoding="utf-8"))
    assert "main" in {node.name for node in parsed.body if isinstance(node, ast.FunctionDef)}
    assert f"python examples/{example}" in (ast.get_docstring(parsed) or "")


def test_a_transformers_model_turns_faster_and_is_put_back() -> None:
    printed = output("fast_rotary.py", "--tokens", "64")
    assert float(re.findall(r"logits differ by (\S+),", printed)[0]) <= 1e-4
    assert "put back by 0.0e+00" in printed
    assert len(re.findall(r"[\d.]+ ms before, [\d.]+ ms after", printed)) == 2


def test_each_row_of_a_batch_gets_what_it_gets_alone() -> None:
    found = re.findall(r"single prompts: (\S+); after a row ended: (\S+)", output("serve_with_cache.py"))
    assert len(found) == 4
    assert max(float(value) for pair in found for value in pair) <= 1e-4


def test_training_under_accelerate_learns() -> None:
    printed = output("train_with_accelerate.py", "--steps", "60")
    [(first, last)] = re.findall(r"([\d.]+) at the start, ([\d.]+) after", printed)
    assert float(last) < 0.85 * float(first)


def test_onnxruntime_chooses_the_tokens_that_pytorch_chooses() -> None:
    printed = output("export_and_run.py")
    assert re.findall(r"opset (\d+)", printed) == ["20", "23"]
    chosen = re.findall(r"onnxruntime chose (\[.*\]) and (\[.*\])", printed)
    assert chosen[0] == chosen[1]
    assert len(set(ast.literal_eval(chosen[0][0]))) > 1  # or any graph would do


def test_alibi_reads_longer_texts_and_a_table_does_not() -> None:
    printed = output("alibi_longer_context.py", "--steps", "150")
    alibi, learned = ([float(value) for value in re.findall(r"([\d.]+) at", line)] for line in printed.splitlines())
    assert alibi[2] < 1.1 * alibi[0]
    assert learned[2] > 1.15 * learned[0]
