"""`gnomon lint`: many config files, one line a finding, nothing run."""

import json
from pathlib import Path

import pytest

from gnomon.report.baseline import write_baseline
from tests.helpers.command import gnomon, sentence

GOOD = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "max_position_embeddings": 128}
BAD = {**GOOD, "rope_scaling": {"rope_type": "linear"}, "rope_theta": 1e5}


def write(folder: Path, name: str, content: object) -> str:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content, indent=2) if not isinstance(content, str) else content)
    return str(path)


def test_a_fault_is_one_line_that_an_editor_can_follow(tmp_path: Path) -> None:
    bad = write(tmp_path, "config.json", BAD)
    outcome = gnomon("lint", bad)
    assert outcome.code == 1
    [line] = [line for line in outcome.stdout.splitlines() if "PE102" in line]
    assert line.startswith(f"{bad}:6: error: PE102 linear scaling has no factor")


def test_healthy_files_and_files_that_are_no_config_pass(tmp_path: Path) -> None:
    good = write(tmp_path / "a", "config.json", GOOD)
    files = [good, write(tmp_path, "data.json", [1, 2]), write(tmp_path, "b.json", "x")]
    outcome = gnomon("lint", *files)
    assert (outcome.code, outcome.stdout) == (0, "")
    assert "1 of 3 files are model configs" in outcome.stderr


def test_one_bad_file_among_good_ones_fails(tmp_path: Path) -> None:
    assert gnomon("lint", write(tmp_path, "a.json", GOOD), write(tmp_path, "b.json", BAD)).code == 1


def test_a_baseline_silences_what_is_known(tmp_path: Path) -> None:
    from gnomon.doctor import diagnose

    bad = write(tmp_path, "config.json", BAD)
    known = write(tmp_path, "known.json", write_baseline(diagnose(bad, select="PE1", forward=False)))
    outcome = gnomon("lint", bad, "--baseline", known)
    assert (outcome.code, outcome.stdout) == (0, "")


@pytest.mark.parametrize(("name", "says"), [("config.json", "is not JSON"), ("missing/config.json", "cannot be read")])
def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path: Path, name: str, says: str) -> None:
    path = tmp_path / name
    if "missing" not in name:
        path.write_text("{")
    assert says in sentence(gnomon("lint", str(path)))


def test_what_is_nested_too_deeply_is_no_config(tmp_path: Path) -> None:
    deep = tmp_path / "deep.json"
    deep.write_text("[" * 100_000 + "]" * 100_000)
    assert gnomon("lint", str(deep)).code == 0


def test_the_hook_for_commits_calls_it() -> None:
    hook = (Path(__file__).parents[2] / ".pre-commit-hooks.yaml").read_text()
    assert "entry: gnomon lint\n" in hook
    assert "id: gnomon-config\n" in hook
