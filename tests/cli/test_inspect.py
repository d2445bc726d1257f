"""`gnomon inspect`: what was found, without a verdict."""

import json

import pytest

from gnomon.report.document import Report
from tests.helpers.command import a_report, gnomon, put_doctor


def test_each_encoding_has_its_place_source_and_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    put_doctor(monkeypatch, lambda *_, **__: a_report("failed"))
    outcome = gnomon("inspect", "some-model")
    assert outcome.code == 0
    assert outcome.stdout == ("some-model\n\nlearned at embeddings (from the weights)\n  max_length: 512\n  dim: 384\n")


def test_nothing_found_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    put_doctor(monkeypatch, lambda *_, **__: Report("some-model"))
    assert gnomon("inspect", "some-model").stdout == "some-model\n\nno position encoding found\n"


def test_json_is_alone_on_stdout(monkeypatch: pytest.MonkeyPatch) -> None:
    put_doctor(monkeypatch, lambda *_, **__: a_report())
    outcome = gnomon("inspect", "some-model", "--format", "json")
    assert json.loads(outcome.stdout)["encodings"][0]["options"] == {"max_length": 512, "dim": 384}
    assert outcome.stderr == ""
