import json

from gnomon.extending.checking.noise import Change
from gnomon.extending.searching.results import Cost, Lengths, Searched


def searched(change: Change) -> Searched:
    baselines = {"linear": 3.0, "yarn": 2.5}
    return Searched((1.0, 2.0), (1.0, 1.0), 1.1, Lengths(64, 128, 128), (2.6, 2.4), baselines, change, Cost(7, 900, 3))


def test_a_list_that_beats_the_best_plain_method_beyond_noise_is_worth_writing() -> None:
    found = searched(Change(2.5, 2.4, 0.01, 50))
    assert (found.best_baseline, found.better) == ("yarn", True)
    assert found.verdict[0].endswith("(-0.100, standard error 0.010): the list is worth writing.")
    assert found.verdict[1] == "7 evaluations with seed 3, 900 tokens read in 0 s."


def test_within_noise_the_plain_method_is_named() -> None:
    for change in (Change(2.5, 2.49, 0.01, 50), Change(2.5, 2.6, 0.01, 50)):
        assert not searched(change).better
        assert "nothing better than yarn" in searched(change).verdict[0]


def test_losses_that_are_no_numbers_are_null_in_json() -> None:
    found = searched(Change(2.5, float("inf"), None, 50))
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert (told["change"]["after"], told["change"]["difference"]) == (None, None)
