"""`gnomon export`: what is measured goes to stdout, a wrong graph ends with 1, what cannot run with 2."""

import json
import signal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import torch

import gnomon
from gnomon.encodings import Rotary
from gnomon.exporting import Check, Exported, WrongExportError
from gnomon.exporting.result import Case, Port
from gnomon.models import Decoder, ModelOptions
from tests.helpers.command import gnomon as command
from tests.helpers.command import sentence

NAME = "tests.cli.test_export:decoder"


def decoder() -> Decoder:
    torch.manual_seed(0)
    return Decoder(ModelOptions(vocabulary=11, dim=16, num_layers=1, num_heads=2), encoding=Rotary(8))


def exported(path: Path, difference: float = 1e-7, failure: str = "") -> Exported:
    ports = (
        (Port("input_ids", "int64", ("batch", "sequence")),),
        (Port("logits", "float32", ("batch", "sequence", 11)),),
    )
    checks = (Check(Case(1, 7), 2e-7, 1e-5), Check(Case(3, 19, padding=3), difference, 1e-5, failure))
    return Exported(NAME, path, 20, *ports, (("Rotary", "tables"),), checks)


def test_a_factory_is_exported_and_measured(tmp_path: Path, unchecked: None) -> None:
    path = tmp_path / "model.onnx"
    outcome = command("export", NAME, "-o", str(path), "--rotary", "operator", "--format", "json", "--max-length", "32")
    found = json.loads(outcome.stdout)
    assert (outcome.code, found["ok"], found["opset"]) == (0, True, 23)
    assert found["encodings"] == [
        {
            "encoding": "Rotary",
            "form": "tables of cosines and sines of 32 positions, the operator RotaryEmbedding",
        }
    ]
    assert path.is_file()
    examined = command("doctor", str(path), "--select", "PE6")
    assert examined.code == 0
    assert "PE613 graph-of-one-length" in examined.stdout


def test_every_option_reaches_the_export(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: dict[str, Any] = {}

    def record(target: str, path: Path, **options: Any) -> Exported:
        taken.update(options, target=target, path=path)
        return exported(path)

    monkeypatch.setattr("gnomon.exporting.export", record)
    path = tmp_path / "m.onnx"
    words = (
        f"export a:b --output {path} --opset 23 --rotary operator --max-length 9 --lengths 3,5 --cache --dtype float16"
    )
    outcome = command(*words.split(), "--no-check", "--keep")
    assert outcome.code == 0
    assert taken == {
        "target": "a:b",
        "path": path,
        "opset": 23,
        "rotary": "operator",
        "max_length": 9,
        "lengths": (3, 5),
        "cache": True,
        "dtype": "float16",
        "check": False,
        "keep": True,
    }


def test_text_shows_inputs_encodings_and_every_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gnomon.exporting.export", lambda _target, path, **_: exported(path))
    lines = command("export", "a:b", "-o", str(tmp_path / "m.onnx")).stdout.splitlines()
    assert lines[0] == f"wrote {tmp_path / 'm.onnx'} (opset 20), from {NAME}"
    assert [line.split() for line in lines if line.startswith("  ")] == [
        ["input_ids", "int64", "(batch,", "sequence)"],
        ["logits", "float32", "(batch,", "sequence,", "11)"],
        ["Rotary", "tables"],
        ["1", "x", "7", "2.0e-07"],
        ["3", "x", "19,", "3", "padded", "on", "the", "left", "1.0e-07"],
    ]


@pytest.mark.parametrize(
    ("difference", "failure", "words"),
    [(0.25, "", "2.5e-01   WRONG, allowed 1e-05"), (float("inf"), "Fail: no", "Fail: no   WRONG")],
)
def test_a_wrong_graph_ends_with_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, difference: float, failure: str, words: str
) -> None:
    def wrong(_target: str, path: Path, **_: Any) -> Exported:
        raise WrongExportError(exported(path, difference, failure))

    monkeypatch.setattr("gnomon.exporting.export", wrong)
    outcome = command("export", "a:b", "-o", str(tmp_path / "m.onnx"))
    assert outcome.code == 1
    assert outcome.stdout.startswith("NOT written, it is not the model:")
    assert words in outcome.stdout
    assert (
        json.loads(command("export", "a:b", "-o", str(tmp_path / "m.onnx"), "--format", "json").stdout)["ok"] is False
    )


def test_a_wrong_graph_that_is_kept_ends_with_1_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gnomon.exporting.export", lambda _target, path, **_: exported(path, 0.25))
    outcome = command("export", "a:b", "-o", str(tmp_path / "m.onnx"), "--keep")
    assert outcome.code == 1
    assert outcome.stdout.startswith("wrote ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--lengths", "7"], "--lengths are two numbers, as in 7,19; got '7'."),
        (["--lengths", "7,x"], "--lengths are two numbers, as in 7,19; got '7,x'."),
        (["--lengths", f"7,{10**25}"], "two different lengths from 1 to 2147483647, got (7, 1"),
        (["--max-length", str(10**22)], "Tables have 1 to 2147483647 positions, got max_length=1"),
        (["--max-length", str(2**62)], "Tables have 1 to 2147483647 positions, got max_length=4"),
        (["--opset", "9"], "The exporter writes opset 18 to 23, got 9."),
        (["--rotary", "operator", "--opset", "22"], "RotaryEmbedding is an operator from opset 23 on"),
    ],
)
def test_what_cannot_run_ends_with_2_and_one_sentence(tmp_path: Path, words: list[str], said: str) -> None:
    assert said in sentence(command("export", NAME, "-o", str(tmp_path / "m.onnx"), *words))
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_said_before_anything_is_imported(tmp_path: Path) -> None:
    assert "does not exist" in sentence(command("export", "nowhere:at_all", "-o", str(tmp_path / "no" / "m.onnx")))


def test_the_function_is_public() -> None:
    assert callable(gnomon.export)
    assert "export" in gnomon.__all__


def test_a_link_to_a_missing_folder_names_that_folder(tmp_path: Path) -> None:
    (tmp_path / "link.onnx").symlink_to(tmp_path / "missing" / "model.onnx")
    said = sentence(command("export", "nowhere:at_all", "-o", str(tmp_path / "link.onnx")))
    assert f"The folder {tmp_path / 'missing'} does not exist" in said


def test_sigterm_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def terminated(*_: Any, **__: Any) -> Exported:
        with TemporaryDirectory(dir=tmp_path):
            try:
                signal.raise_signal(signal.SIGTERM)
            except Exception as error:
                raise AssertionError from error
        raise AssertionError

    monkeypatch.setattr("gnomon.exporting.export", terminated)
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    outcome = command("export", "a:b", "-o", str(tmp_path / "m.onnx"))
    assert (outcome.code, outcome.stdout, outcome.stderr) == (143, "", "gnomon: terminated\n")
    assert list(tmp_path.iterdir()) == []
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
