"""Appendix A.1 of XLNet in numbers, and that what a query is told is all that differs."""

import pytest
import torch
from torch import Tensor

from gnomon.attention import TwoStreamMasks
from gnomon.errors import GnomonError
from gnomon.lab.experiments import Context, build_experiment
from gnomon.lab.experiments.two_stream import SamePrefix, Told, drawn_model, predicted, same_prefix

IDS = torch.tensor([[3, 1, 4, 1, 5, 9, 2], [6, 5, 3, 5, 8, 9, 7]])


def masks(*targets: int) -> TwoStreamMasks:
    """Every target is predicted from the tokens that are none."""
    mapping = torch.zeros(2, len(targets), 7)
    for prediction, target in enumerate(targets):
        mapping[:, prediction, target] = 1
    return TwoStreamMasks(mapping.sum(1, keepdim=True).expand(2, 7, 7), mapping)


@torch.no_grad()
def logits(told: Told, *targets: int, ids: Tensor = IDS) -> Tensor:
    return predicted(drawn_model(Context(0)), ids, masks(*targets), told)


@torch.no_grad()
def test_a_query_that_knows_its_place_predicts_what_the_model_does() -> None:
    model = drawn_model(Context(0))
    assert logits("place", 2, 5).equal(model.logits(model(IDS, masks(2, 5)).hidden))


def test_without_its_place_two_targets_get_one_prediction_and_with_it_they_differ() -> None:
    assert logits("nothing", 2, 5)[:, 0].equal(logits("nothing", 2, 5)[:, 1])
    assert float((logits("place", 2, 5)[:, 0] - logits("place", 2, 5)[:, 1]).abs().max()) > 1e-3


def test_only_the_place_differs_so_the_first_token_gets_the_same_prediction_either_way() -> None:
    torch.testing.assert_close(logits("nothing", 0, 4)[:, 0], logits("place", 0, 4)[:, 0], atol=1e-6, rtol=0)
    torch.testing.assert_close(logits("nothing", 0, 4)[:, 1], logits("place", 0, 4)[:, 0], atol=1e-6, rtol=0)


def test_without_its_place_a_query_still_sees_the_letters_and_where_they_stand() -> None:
    changed, swapped = IDS.clone(), IDS.clone()
    changed[:, 3] = 12
    swapped[:, [3, 6]] = IDS[:, [6, 3]]
    for ids in (changed, swapped):
        assert float((logits("nothing", 2, 5) - logits("nothing", 2, 5, ids=ids)).abs().max()) > 1e-4
    changed = IDS.clone()
    changed[:, [2, 5]] = 11  # the targets, which no query may see
    for told in ("place", "nothing"):
        assert logits(told, 2, 5).equal(logits(told, 2, 5, ids=changed))


def test_the_number_is_the_total_variation_distance() -> None:
    model, shape = drawn_model(Context(0)), (3, 5)
    generator = torch.Generator().manual_seed(4)
    ids = torch.randint(1, 13, shape, generator=generator)
    places = torch.rand(shape, generator=generator).argsort(-1)[:, :2].tolist()
    distances = []
    for row, (a, b) in enumerate(places):
        shown = [[float(slot in (a, b)) for slot in range(5)]]
        mapping = [[float(slot == target) for slot in range(5)] for target in (a, b)]
        masks = TwoStreamMasks(torch.tensor([shown * 5]), torch.tensor([mapping]))
        with torch.no_grad():
            [one, other] = predicted(model, ids[row : row + 1], masks, "place").double().softmax(-1)[0].tolist()
        distances.append(sum(abs(p - q) for p, q in zip(one, other, strict=True)) / 2)
    measured = same_prefix(model, "place", shape, torch.Generator().manual_seed(4)).value()
    assert measured == pytest.approx(sum(distances) / 3, rel=1e-3)


def test_the_experiment_measures_it_and_leaves_the_generator_of_torch_alone() -> None:
    before = torch.random.get_rng_state()
    same, apart = (
        SamePrefix(told, rows=8).run(Context(1)).measured[""]["same_prefix"].value() for told in ("nothing", "place")
    )
    assert same is not None
    assert apart is not None
    assert same <= 1e-6 < 1e-4 < apart
    assert torch.random.get_rng_state().equal(before)


@pytest.mark.parametrize("options", [{"told": "all"}, {"told": "place", "length": 2}, {"told": "place", "rows": 0}])
def test_bad_options_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(GnomonError, match=r"told place or nothing|row of 3 tokens"):
        build_experiment("same_prefix", options)
