"""However a command fails: a sentence on stderr, the right exit code, and a traceback only for gnomon's own faults."""

import os
import subprocess
import sys
from typing import NoReturn

import pytest

from gnomon.errors import UnsupportedTargetError
from tests.helpers.command import gnomon, put_doctor, sentence


def raise_in_the_doctor(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def diagnose(*_: object, **__: object) -> NoReturn:
        raise error

    put_doctor(monkeypatch, diagnose)


def test_bad_input_is_one_sentence_and_exit_code_2(monkeypatch: pytest.MonkeyPatch) -> None:
    raise_in_the_doctor(monkeypatch, UnsupportedTargetError("There is no file or folder 'x'; give a folder."))
    assert sentence(gnomon("doctor", "x")) == "There is no file or folder 'x'; give a folder."


def test_an_interrupt_ends_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    raise_in_the_doctor(monkeypatch, KeyboardInterrupt())
    outcome = gnomon("doctor", "x")
    assert outcome.code == 130
    assert outcome.stderr == "gnomon: interrupted\n"


def test_a_fault_of_gnomon_shows_its_trace_and_is_never_taken_for_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    raise_in_the_doctor(monkeypatch, RuntimeError("the flux capacitor broke"))
    outcome = gnomon("doctor", "x")
    assert outcome.code == 2
    assert "RuntimeError: the flux capacitor broke" in outcome.stderr
    assert outcome.stderr.splitlines()[-1].startswith("gnomon: this is a fault in gnomon itself")


def test_an_unknown_command_names_a_close_one() -> None:
    outcome = gnomon("docter", "x")
    assert outcome.code == 2
    assert "doctor" in outcome.stderr


def test_a_reader_that_goes_away_is_not_an_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    code = "import sys; sys.argv = ['gnomon', 'list', 'encodings']; from gnomon.cli import main; main()"
    ended = subprocess.run([sys.executable, "-c", code], stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert ended.stderr == b""
    assert ended.returncode == 0
