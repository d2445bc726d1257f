"""stdout holds the result and nothing that the target's own code prints, in this process or in one that it starts."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gnomon.report.document import Report
from tests.helpers.command import a_report, gnomon, put_doctor

SOURCE = """
import os, subprocess, sys
import torch
from torch import nn

stdout = sys.__stdout__

def speak(word):
    print(word, "printed")
    print(word, "held", file=stdout)
    os.write(1, f"{word} written\\n".encode())
    subprocess.run([sys.executable, "-c", f"print('{word} child')"], check=True)

class Loud(nn.Module):
    def __init__(self, leave=False):
        super().__init__()
        self.words, self.leave = nn.Embedding(9, 4), leave

    def forward(self, ids):
        if self.leave:
            raise SystemExit(0)
        if not hasattr(nn.Module, "spoken"):
            nn.Module.spoken = True
            speak("forward")
        return self.words(ids)

def loud():
    speak("factory")
    return Loud()

def leaving():
    return Loud(leave=True)

def quits():
    raise SystemExit(0)
"""
MAIN = "import sys; sys.argv[0] = 'gnomon'; from gnomon.cli import main; main()"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "loud_for_test.py").write_text(SOURCE)
    return tmp_path


def run(folder: Path, *words: str, stdout: int = subprocess.PIPE) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", MAIN, *words]
    return subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False, cwd=folder)


@pytest.mark.parametrize("command", [("doctor", "--select", "PE302"), ("inspect",)])
def test_what_the_target_prints_goes_to_stderr(folder: Path, command: tuple[str, ...]) -> None:
    ended = run(folder, *command, "loud_for_test:loud", "--format", "json")
    assert json.loads(ended.stdout)["target"] == "loud_for_test:loud"
    for word in ("factory", "forward"):
        for way in ("printed", "held", "written", "child"):
            assert f"{word} {way}" in ended.stderr


def test_a_factory_that_exits_never_decides_the_exit_code(folder: Path) -> None:
    ended = run(folder, "doctor", "loud_for_test:quits")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == "gnomon: The factory loud_for_test:quits raised SystemExit: 0.\n"


def test_a_forward_that_exits_never_ends_the_command(folder: Path) -> None:
    ended = run(folder, "doctor", "loud_for_test:leaving", "--select", "PE302", "--format", "json")
    [check] = json.loads(ended.stdout)["checks"]
    assert check["status"] == "not-applicable"
    assert "SystemExit" in check["detail"]
    assert ended.returncode == 2


def test_nothing_is_mixed_into_a_stdout_that_is_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def loud(*_: object, **__: object) -> Report:
        sys.stdout.write("loud\n")
        return a_report()

    put_doctor(monkeypatch, loud)
    outcome = gnomon("inspect", "some-model", "--format", "json")
    assert json.loads(outcome.stdout)["target"] == "some-model"
    assert outcome.stderr == "loud\n"


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="this system has no full device")
def test_a_full_disk_behind_stdout_is_a_sentence(tmp_path: Path) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    ended = run(tmp_path, "list", "checks", stdout=full)
    os.close(full)
    assert ended.stderr == "gnomon: the output cannot be written: No space left on device.\n"
    assert ended.returncode == 2
