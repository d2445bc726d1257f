"""`gnomon layout`: what it prints, and how it ends."""

import json
from pathlib import Path

from tests.helpers.command import gnomon, sentence
from tests.helpers.pairwise_llama import teacher
from tests.helpers.tiny_transformers import save_tiny


def exported(folder: Path, *, gathered: bool) -> Path:
    folder.mkdir()
    return teacher().export(folder, gathered=gathered)


def test_detect_ends_with_1_when_the_evidence_disagrees(tmp_path: Path) -> None:
    right, wrong = (exported(tmp_path / name, gathered=name == "right") for name in ("right", "wrong"))
    outcome = gnomon("layout", "detect", str(wrong), "--reference", str(right))
    assert outcome.code == 1
    assert outcome.stdout.startswith(f"{wrong}: interleaved\n")
    assert f"gnomon layout permute {wrong} --from interleaved --to half -o OUT" in outcome.stdout
    assert gnomon("layout", "detect", str(right), "--reference", str(wrong), "--no-forward").code == 1


def test_detect_that_cannot_tell_more_than_the_config_ends_with_0(tmp_path: Path) -> None:
    folder = exported(tmp_path / "model", gathered=True)
    text = tmp_path / "text.txt"
    text.write_text("Some words.")
    outcome = gnomon("layout", "detect", str(folder), "--text", str(text), "--format", "json")
    assert outcome.code == 0
    told = json.loads(outcome.stdout)
    assert (told["layout"], told["disagreement"]) == ("half", False)
    assert [one["layout"] for one in told["evidence"]] == ["half", None]
    outcome = gnomon("layout", "detect", str(folder), "-o", str(tmp_path / "found.txt"))
    assert (outcome.code, outcome.stdout) == (0, "")
    assert (tmp_path / "found.txt").read_text().startswith(f"{folder}: half\n")


def test_permute_says_what_was_done_and_verified(tmp_path: Path) -> None:
    save_tiny(tmp_path / "model", "llama")
    (tmp_path / "model" / "old.bin").write_bytes(b"x")
    words = ("--to", "interleaved", "--for", "torchtune", "-o", str(tmp_path / "out"))
    outcome = gnomon("layout", "permute", str(tmp_path / "model"), *words)
    assert outcome.code == 0
    assert outcome.stdout.startswith(f"{tmp_path / 'out'}: half -> interleaved\n")
    assert "Verified: the scores of 2 attentions" in outcome.stdout
    assert "Left behind: old.bin." in outcome.stdout
    assert outcome.stderr == "gnomon: model.safetensors\n"
    words = ("--to", "half", "-o", str(tmp_path / "back"), "--format", "json")
    told = json.loads(gnomon("layout", "permute", str(tmp_path / "out"), *words).stdout)
    assert (told["came_from"], told["to"], told["tensors"]) == ("interleaved", "half", 4)
    same = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("model", "back")]
    assert same[0] == same[1]


def test_what_cannot_be_done_is_one_sentence(tmp_path: Path) -> None:
    folder = str(save_tiny(tmp_path / "model", "llama"))
    out = str(tmp_path / "out")
    assert "--for NAME" in sentence(gnomon("layout", "permute", folder, "--to", "interleaved", "-o", out))
    assert "--from interleaved" in sentence(gnomon("layout", "permute", folder, "--to", "half", "-o", out))
    assert "There is no file or folder" in sentence(gnomon("layout", "detect", str(tmp_path / "nowhere")))
    missing = sentence(gnomon("layout", "detect", folder, "--text", str(tmp_path / "nowhere")))
    assert "cannot be read: No such file" in missing
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    assert "no text in UTF-8" in sentence(gnomon("layout", "detect", folder, "--text", str(tmp_path / "bytes")))
    config = str(tmp_path / "nowhere.json")
    (tmp_path / "model" / "model.safetensors").rename(tmp_path / "model" / "adapter_model.safetensors")
    words = ("--to", "interleaved", "--for", "x", "--config", config, "-o", out)
    assert "There is no file" in sentence(gnomon("layout", "permute", folder, *words))
