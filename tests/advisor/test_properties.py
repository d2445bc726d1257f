"""What holds over many descriptions: longer targets, more data, order of what is said."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon import encodings
from gnomon.advisor import ModelSizes, Task, advise
from gnomon.advisor.task import Device, Limit, Need
from gnomon.errors import GnomonError
from gnomon.report.advice.document import Advice, Recommendation

SMALL = ModelSizes(dim=64, num_heads=4, num_layers=2)
TARGETS = (64, 65, 90, 128, 300, 1024, 5000, 40000, 1048576, 5000000)


def named(advice: Advice, name: str) -> Recommendation | None:
    return next((it for it in advice.recommendations if it.name == name), None)


@pytest.mark.parametrize("task", [task for task in Task if task.axes == 1])
def test_no_table_is_shorter_than_a_stated_target(task: Task) -> None:
    for target in TARGETS[:-2]:
        for trained in (64, target):
            advice = advise(task, trained=trained, target=target, need="absolute", percentiles={95: 50}, sizes=SMALL)
            table = named(advice, "learned")
            assert table is None or table.options["max_length"] >= target


def test_a_target_alone_is_enough_for_the_table_to_reach_it() -> None:
    table = named(advise("tagging", target=1000, percentiles={95: 100, 100: 900}, sizes=SMALL), "learned")
    assert table is not None
    assert table.options["max_length"] == 1000


def test_a_longer_target_never_gives_a_smaller_base_or_factor() -> None:
    found = [named(advise("code", trained=64, target=target, sizes=SMALL), "rotary") for target in TARGETS]
    rotary = [it for it in found if it is not None]
    assert len(rotary) == len(TARGETS)
    bases = [it.options["frequencies"]["base"] for it in rotary]
    assert bases == sorted(bases)
    factors = [it.numbers.get("factor", 1.0) for it in rotary]
    assert factors == sorted(factors)
    assert factors[2] == 90 / 64


def test_a_longer_target_never_raises_what_cannot_go_there() -> None:
    for name in ("sinusoidal", "rotary", "t5", "nope"):
        beyond = TARGETS[1:]
        found = [named(advise("language-model", trained=64, target=it, sizes=SMALL), name) for it in beyond]
        totals = [it.total for it in found if it is not None]
        assert totals == sorted(totals, reverse=True), name


def test_a_longer_target_never_costs_less() -> None:
    for name in ("rotary", "t5", "alibi", "sinusoidal"):
        found = [named(advise("language-model", trained=64, target=it, sizes=SMALL), name) for it in TARGETS]
        costs = [sum(cost.value for cost in it.costs if cost.unit == "bytes") for it in found if it is not None]
        assert costs == sorted(costs)
        assert costs[0] < costs[-1]


def test_sinusoids_are_never_first_and_never_asked_to_extrapolate() -> None:
    for task, device, need in itertools.product(Task, (None, *Device), (None, *Need)):
        for target in (64, 700):
            advice = advise(task, device=device, need=need, trained=64, target=target, sizes=SMALL)
            assert advice.best.encoding not in ("sinusoidal", "sinusoidal_grid")


def test_more_examples_never_lower_a_table() -> None:
    found = [
        named(advise("classification", need="absolute", trained=64, examples=it, sizes=SMALL), "learned")
        for it in (1, 999, 1000, 10**6)
    ]
    assert [it.total for it in found if it is not None] == [2, 2, 5, 5]


def test_tokens_count_as_examples_of_the_middle_length() -> None:
    given_tokens = advise("classification", tokens=40_000, percentiles={50: 50, 95: 80}, sizes=SMALL)
    assert given_tokens.facts["examples"] == 800


descriptions = st.fixed_dictionaries(
    {
        "task": st.sampled_from([*Task, None]),
        "causal": st.sampled_from([None, True, False]),
        "need": st.sampled_from([None, *Need]),
        "trained": st.sampled_from([1, 7, 64, 1000, None]),
        "target": st.sampled_from([None, 1, 65, 3000]),
        "percentiles": st.sampled_from([None, {95: 40}, {50: 3, 95: 40, 100: 90}, {100: 5}]),
        "unlimited": st.booleans(),
        "cut": st.booleans(),
        "device": st.sampled_from([None, *Device]),
        "examples": st.sampled_from([None, 5, 10**6]),
        "limits": st.sets(st.sampled_from([*Limit])),
        "sizes": st.sampled_from(
            [
                ModelSizes(),
                ModelSizes(dim=24, num_heads=3),
                ModelSizes(head_dim=10, num_heads=6, key_heads=2, num_layers=3),
                ModelSizes(head_dim=2, num_heads=1, dtype="float32"),
            ]
        ),
    }
)


@settings(max_examples=120)
@given(descriptions)
def test_every_description_is_answered_with_what_builds_or_refused_in_a_sentence(words: dict[str, object]) -> None:
    try:
        advice = advise(**words)  # type: ignore[arg-type]
    except GnomonError as error:
        assert str(error).endswith(".")  # noqa: PT017
        return
    again = advise(**words)  # type: ignore[arg-type]
    assert again == advice
    for recommendation in advice.recommendations:
        encodings.build(recommendation.encoding, **recommendation.options)
