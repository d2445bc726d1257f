"""`gnomon lab claims`: what is refused before any work, and what is printed and written after it."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gnomon.errors import GnomonError
from gnomon.lab.engines import Engine
from gnomon.lab.engines.base import Tell
from gnomon.lab.experiments import Context
from gnomon.lab.store import Store
from gnomon.lab.worker import perform
from gnomon.report.lab.results import Run
from tests.helpers.command import Outcome, gnomon, sentence


class Here(Engine):
    """Does runs in this process."""

    def do(self, runs: Sequence[Run], store: Store, tell: Tell) -> None:
        for run in runs:
            tell(perform(run, Context(run.seed)))


@pytest.fixture(autouse=True)
def _engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def choose(name: str, **options: Any) -> Engine:
        return Here()

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gnomon.lab.engines.choose", choose)


def claims(*words: str) -> Outcome:
    return gnomon("lab", "claims", *words)


def test_claims_are_printed_and_written_in_three_forms(tmp_path: Path) -> None:
    ended = claims("--direct", "--only", "18,7", "--output", str(tmp_path / "out"))
    assert ended.code == 0
    assert "7 (§2.1) holds" in ended.stdout
    assert "18 (§3.3) fails" in ended.stdout
    assert "gnomon lab claims --direct --only 18,7 --seeds 3" in ended.stdout
    assert max(map(len, ended.stdout.splitlines())) <= 80
    written = {file.name for file in (tmp_path / "out").glob("[!.]*")}
    assert written == {"claims.html", "claims.json", "claims.md", "runs"}


def test_json_is_one_object_on_stdout() -> None:
    ended = claims("--direct", "--only", "18", "--format", "json", "--seeds", "1")
    fields = json.loads(ended.stdout)
    assert fields["summary"]["fails"] == 1
    assert fields["size"] == "direct"
    assert (Path("reports") / "lab" / "claims" / "claims.json").is_file()


@pytest.mark.parametrize("words", [("--only", "0"), ("--only", "5,44"), ("--only", "five"), ("--only", ",")])
def test_claims_that_do_not_exist_are_refused(words: tuple[str, str]) -> None:
    assert "claim" in sentence(claims(*words)).lower()


def test_two_sizes_at_once_are_refused() -> None:
    assert "--quick and --direct" in sentence(claims("--quick", "--direct"))


def test_a_folder_that_is_a_file_is_refused_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "is a file" in sentence(claims("--only", "18", "--output", str(tmp_path / "file")))


def test_a_claim_that_could_not_be_measured_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    from gnomon.lab.claims.sinusoids import NormOfSinusoid

    class Failing(Engine):
        def do(self, runs: Sequence[Run], store: Store, tell: Tell) -> None:
            from gnomon.report.lab.study import Failure

            for run in runs:
                tell(Failure(run, "Something is not installed."))

    def broken(self: NormOfSinusoid, context: Context) -> dict[str, float]:
        raise GnomonError("never called")

    monkeypatch.setattr(NormOfSinusoid, "measure", broken)
    monkeypatch.setattr("gnomon.lab.engines.choose", lambda name, **options: Failing())
    ended = claims("--direct", "--only", "18")
    assert ended.code == 0
    assert "18 (§3.3) not measured" in ended.stdout
    assert "Something is not installed." in ended.stdout
