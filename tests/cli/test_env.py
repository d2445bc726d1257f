"""`gnomon env`: one block with what a fault report should say."""

import platform
from importlib.metadata import version

import pytest

from gnomon.cli import env as module
from gnomon.kernels import native
from tests.helpers.command import gnomon


def test_the_block_names_versions_devices_and_folders() -> None:
    outcome = gnomon("env")
    lines = dict(line.split("  ", 1) for line in outcome.stdout.splitlines())
    assert {name.strip() for name in lines} >= {"devices", "threads", "cache", "platform"}
    assert lines["python"].strip() == platform.python_version()
    assert lines["torch"].strip() == version("torch")
    assert lines["devices"].strip().startswith("cpu")
    assert lines["missing extras"].strip() == "none"


def test_an_extra_that_is_not_whole_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None if name == "plotly" else object())
    assert module.missing_extras() == ["plots"]


def test_a_library_that_is_not_installed_is_said_to_be_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LIBRARIES", ("no-such-library",))
    assert "no-such-library  not installed" in gnomon("env").stdout


def test_the_compiled_kernel_is_named_with_what_it_runs_on() -> None:
    said = f"yes ({native.reason()})" if native.AVAILABLE else f"no: {native.reason()}"
    assert f"compiled kernel  {said}" in gnomon("env").stdout


def test_without_the_compiled_kernel_the_reason_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "AVAILABLE", False)
    monkeypatch.setattr(native, "reason", lambda: "it was not built")
    assert "compiled kernel  no: it was not built; rotary runs in plain torch" in gnomon("env").stdout
