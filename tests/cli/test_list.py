"""`gnomon list`: one line for each thing that is registered."""

import pytest

from gnomon.bench.cell import registry as benches
from gnomon.doctor.check import registry as checks
from gnomon.encodings.base import registry as encodings
from gnomon.encodings.frequencies.base import registry as frequencies
from gnomon.lab.suites import registry as suites
from gnomon.lab.tasks import registry as tasks
from tests.helpers.command import gnomon, sentence


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("encodings", encodings.names()),
        ("checks", checks.names()),
        ("frequencies", frequencies.names()),
        ("tasks", tasks.names()),
        ("suites", suites.names()),
        ("benches", benches.names()),
    ],
)
def test_every_name_has_one_line_with_a_summary(kind: str, names: list[str]) -> None:
    outcome = gnomon("list", kind)
    lines = outcome.stdout.splitlines()
    assert [line.split()[0] for line in lines] == names
    assert all(len(line.split()) > 3 for line in lines)
    assert outcome.code == 0


def test_encodings_say_what_they_promise() -> None:
    lines = {line.split()[0]: line for line in gnomon("list", "encodings").stdout.splitlines()}
    assert " absolute, learned " in lines["learned"]
    assert " relative " in lines["rotary"]
    assert " none " in lines["nope"]


def test_encodings_say_what_limits_them() -> None:
    lines = {line.split()[0]: line for line in gnomon("list", "encodings").stdout.splitlines()}
    assert " keeps norms  " in lines["rotary"]
    assert " causal only  " in lines["xpos"]
    assert " 1 axis, limited  " in lines["learned"]
    assert " 2 axes, limited  " in lines["window_bias"]
    assert " 3 axes  " in lines["mrope"]


def test_frequencies_say_whether_they_depend_on_the_length() -> None:
    lines = gnomon("list", "frequencies").stdout.splitlines()
    depend = {line.split()[0] for line in lines if line.split()[1] == "length-dependent"}
    assert depend == {"dynamic", "dynamic_yarn", "longrope"}


def test_a_terminal_gets_lines_of_its_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gnomon.cli.list.terminal_width", lambda: 100)
    for kind in ("encodings", "frequencies", "checks", "tasks", "suites", "benches"):
        lines = gnomon("list", kind).stdout.splitlines()
        assert max(map(len, lines)) <= 100


def test_an_unknown_kind_lists_the_kinds() -> None:
    words = sentence(gnomon("list", "models"))
    assert words == "There is no list of 'models'; list encodings, checks, frequencies, tasks, suites or benches."


def test_help_offers_what_there_is() -> None:
    words = " ".join(gnomon("list", "--help").stdout.split())
    assert "encodings, checks, frequencies, tasks, suites or benches" in words
