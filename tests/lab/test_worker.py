"""One run in this process: what it measured, how long it took, where it was made, and errors as sentences."""

import platform
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, final

import pytest
import torch

import gnomon
from gnomon.errors import GnomonError
from gnomon.lab.experiments import Context, Experiment, Outcome, registry
from gnomon.lab.worker import NOT_FINITE, RESUMED, perform, sentence
from gnomon.report.lab.results import Run, Series


@final
@dataclass(frozen=True)
class Stub(Experiment):
    value: float = 1.0
    ran: ClassVar[int] = 0

    def run(self, context: Context) -> Outcome:
        own = {"x": Series((1.0, 2.0, 3.0), (self.value, 2.0, None))}
        return Outcome({"": own, "other": {"y": Series.number(3.0)}}, data={"text": "abc"}, notes=("seen",))


@pytest.fixture(autouse=True)
def stub() -> Iterator[None]:
    registry.register("stub")(Stub)
    yield
    del registry._items["stub"]


def stub_run(value: float = 1.0) -> Run:
    return Run("stub", "group", "variant", 3, {"value": value})


def test_a_result_holds_what_was_measured_as_it_was() -> None:
    result = perform(stub_run(), Context(3))
    assert result.run == stub_run()
    assert result.measured == {"": {"x": Series((1.0, 2.0, 3.0), (1.0, 2.0, None))}, "other": {"y": Series.number(3.0)}}
    assert (result.data, result.notes) == ({"text": "abc"}, ("seen",))
    assert 0 < result.seconds < 1


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_is_not_finite_is_none_with_the_reason(value: float) -> None:
    series = perform(stub_run(value), Context(3)).measured[""]["x"]
    assert (series.values, series.why) == ((None, 2.0, None), NOT_FINITE)


def test_a_result_says_where_it_was_made() -> None:
    environment = perform(stub_run(), Context(3)).environment
    assert environment["gnomon"] == gnomon.__version__
    assert environment["torch"] == str(torch.__version__).split("+")[0]
    assert environment["python"] == platform.python_version()
    assert environment["device"] == "cpu"
    assert environment["threads"] == str(torch.get_num_threads())
    assert environment["processes"] == "1"


def test_a_run_that_goes_on_says_so(tmp_path: Path) -> None:
    assert perform(stub_run(), Context(3, folder=tmp_path / "none")).notes == ("seen",)
    (tmp_path / ".0123.part").write_text("half a checkpoint")
    assert perform(stub_run(), Context(3, folder=tmp_path)).notes == ("seen",)
    (tmp_path / "checkpoint.pt").write_text("a checkpoint")
    assert perform(stub_run(), Context(3, folder=tmp_path)).notes == ("seen", RESUMED)


def test_an_error_for_users_is_its_sentence() -> None:
    assert sentence(GnomonError("Choose\n another.")) == "Choose another."


def test_any_other_error_is_named_with_its_place() -> None:
    try:
        torch.zeros(2) @ torch.zeros(3)
    except RuntimeError as error:
        words = sentence(error)
    assert words.startswith("RuntimeError: inconsistent tensor size")
    assert words.endswith(f"({__name__}, line {words.split()[-1].rstrip(')')})")
