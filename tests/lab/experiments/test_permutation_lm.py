import pytest
import torch

from gnomon.errors import GnomonError
from gnomon.lab.experiments import Context, build_experiment
from gnomon.lab.experiments import permutation_lm as module
from gnomon.lab.experiments.permutation_lm import PermutationLM
from gnomon.report.lab.results import Series


def curve(experiment: PermutationLM, seed: int = 0) -> Series:
    return experiment.run(Context(seed)).measured[""]["permutation_loss"]


def test_rows_repeat_a_pattern_of_six_letters() -> None:
    rows = [row.tolist() for row in module._rows(torch.Generator().manual_seed(0))]
    assert {len(row) for row in rows} == {20, 21, 22, 23, 24}
    assert all(row[i] == row[i - 6] for row in rows for i in range(6, len(row)))
    assert {letter for row in rows for letter in row} == set(range(1, 13))


@pytest.fixture
def few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ROWS", 4)


@pytest.mark.usefixtures("few_rows")
def test_the_curve_is_the_mean_over_the_steps_before_each_place() -> None:
    fine, coarse = curve(PermutationLM("place", 6, 1)), curve(PermutationLM("place", 6, 3))
    assert (fine.at, coarse.at) == ((1, 2, 3, 4, 5, 6), (3, 6))
    for value, losses in zip(coarse.values, (fine.values[:3], fine.values[3:]), strict=True):
        assert value == pytest.approx(sum(losses) / 3)  # type: ignore[arg-type]


@pytest.mark.usefixtures("few_rows")
def test_the_seed_decides_and_both_variants_start_from_the_same_network_and_rows() -> None:
    one, again, other = (curve(PermutationLM("place", 2, 1), seed).values for seed in (0, 0, 1))
    assert one == again != other
    assert curve(PermutationLM("nothing", 1, 1)).values[0] == pytest.approx(one[0], rel=0.05)


@pytest.mark.usefixtures("few_rows")
def test_progress_is_told_and_predictions_of_one_prefix_are_measured_too() -> None:
    told: list[tuple[int, int]] = []
    context = Context(0, progress=lambda done, total: told.append((done, total)))
    measured = PermutationLM("nothing", 2, 2).run(context).measured[""]
    assert told == [(1, 2), (2, 2)]
    assert measured["same_prefix"].value() == pytest.approx(0, abs=1e-6)


def test_a_query_that_knows_its_place_learns_what_the_other_cannot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ROWS", 12)
    known, unknown = (curve(PermutationLM(told, 70, 10)).values[-1] for told in ("place", "nothing"))
    assert known is not None
    assert unknown is not None
    assert known < 1.3 < 1.7 < unknown


@pytest.mark.parametrize(
    "options", [{"told": "x"}, {"told": "place", "steps": 0}, {"told": "place", "steps": 7, "every": 2}]
)
def test_bad_options_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(GnomonError, match=r"told place or nothing|multiple of `every`"):
        build_experiment("permutation_lm", options)
