"""Which engine a user gets, and what does not fit together."""

from typing import Any

import pytest

from gnomon.errors import GnomonError
from gnomon.lab.engines import choose
from gnomon.lab.engines.local import Local
from gnomon.lab.engines.ray import Ray
from gnomon.lab.engines.together import Together


def test_engines_by_name() -> None:
    assert type(choose("local", workers=3)) is Local
    assert type(choose("ray", workers=3)) is Ray
    assert choose("local", workers=3).at_once == choose("ray", workers=3).at_once == 3


def test_processes_that_were_launched_work_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("RANK", "1")
    engine = choose()
    assert type(engine) is Together
    assert not engine.keeps
    monkeypatch.setenv("RANK", "0")
    assert choose().keeps
    for given in ({"name": "ray"}, {"workers": 2}):
        with pytest.raises(GnomonError, match="leave out engine and workers"):
            choose(**given)  # type: ignore[arg-type]


def test_one_process_that_was_launched_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "1")
    assert type(choose()) is Local


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"name": "slurm"}, "The engines are local and ray, got 'slurm'."),
        ({"workers": 0}, "Runs need at least 1 worker, got 0."),
        ({"address": "auto"}, "An address is that of a Ray cluster; choose the engine ray."),
    ],
)
def test_what_does_not_fit_is_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(GnomonError) as raised:
        choose(**given)
    assert str(raised.value) == words
