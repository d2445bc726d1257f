"""The store: what was finished is found again, whole, and nothing else is taken for it."""

from pathlib import Path

import pytest

from gnomon.errors import GnomonError
from gnomon.lab.store import Store, shown_as
from gnomon.report.lab.results import Result, Run, Series
from tests.helpers.lab_runs import tiny

TODAY = {"gnomon": "1", "torch": "2"}
SERIES = {
    "": {"loss": Series((1.0, 2.5), (0.1, None), why="no place")},
    "b": {"loss": Series.number(1 / 3)},
}


def a_result(run: Run) -> Result:
    return Result(run, SERIES, seconds=1.5, environment=TODAY, data={"text": "abc"}, notes=("a note",))


def test_a_result_is_found_as_it_was(tmp_path: Path) -> None:
    store = Store(tmp_path / "deep" / "folder", TODAY)
    store.save(a_result(tiny()))
    assert Store(tmp_path / "deep" / "folder", TODAY).find(tiny()) == a_result(tiny())


def test_another_seed_or_option_is_another_run(tmp_path: Path) -> None:
    store = Store(tmp_path, TODAY)
    store.save(a_result(tiny()))
    assert store.find(tiny(seed=1)) is None
    assert store.find(tiny(steps=6)) is None


def test_nothing_is_made_by_looking(tmp_path: Path) -> None:
    Store(tmp_path / "folder", TODAY).find(tiny())
    assert list(tmp_path.iterdir()) == []


def test_checkpoints_are_gone_when_the_run_has_finished_and_others_stay(tmp_path: Path) -> None:
    store = Store(tmp_path, TODAY)
    for seed in (0, 1):
        store.work(tiny(seed=seed)).mkdir(parents=True)
        (store.work(tiny(seed=seed)) / "checkpoint.pt").write_text("")
    store.save(a_result(tiny()))
    assert [path.name for path in (tmp_path / "work").iterdir()] == [tiny(seed=1).key]


def test_checkpoints_of_other_versions_are_not_gone_on_from(tmp_path: Path) -> None:
    assert Store(tmp_path, TODAY).work(tiny()) != Store(tmp_path, {**TODAY, "torch": "3"}).work(tiny())


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "null", '{"run": {}}', '{"run": []}', "[" * 100_000, "\xff"])
def test_a_file_that_is_no_result_is_refused_and_stays(tmp_path: Path, text: str) -> None:
    store = Store(tmp_path, TODAY)
    store.save(a_result(tiny()))
    [file] = (tmp_path / "runs").iterdir()
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(GnomonError, match=r"is no stored run; move it away, or use another folder\.$"):
        store.find(tiny())
    assert file.read_bytes() == text.encode("latin-1")


def test_a_result_under_the_name_of_another_is_refused(tmp_path: Path) -> None:
    store = Store(tmp_path, TODAY)
    store.save(a_result(tiny()))
    [file] = (tmp_path / "runs").iterdir()
    file.rename(file.with_name(f"{tiny(seed=1).key}.json"))
    with pytest.raises(GnomonError, match="holds another run than its name says"):
        store.find(tiny(seed=1))


def test_a_folder_in_the_place_of_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "runs" / f"{tiny().key}.json").mkdir(parents=True)
    with pytest.raises(GnomonError, match="cannot be read"):
        Store(tmp_path, TODAY).find(tiny())


def test_a_result_is_shown_under_the_name_of_the_run_that_asks() -> None:
    shown = shown_as(a_result(tiny()), Run("train", "panel", "line", 0, tiny().options))
    assert list(shown.measured) == ["line", "b"]
    assert (shown.run.group, shown.measured["line"]) == ("panel", SERIES[""])


def test_two_do_not_work_in_one_folder_at_a_time(tmp_path: Path) -> None:
    with (
        Store(tmp_path, TODAY).alone(),
        pytest.raises(GnomonError, match=r"^Another process works in .*; wait for it, or choose another folder\.$"),
        Store(tmp_path, TODAY).alone(),
    ):
        pass
    with Store(tmp_path, TODAY).alone():
        pass
