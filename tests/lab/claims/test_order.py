"""Claims 1 and 2."""

import torch

from gnomon.encodings import Sinusoidal
from gnomon.lab.claims.order import SIZES, unevenness
from gnomon.lab.claims.seeds import seeded
from gnomon.lab.experiments import Context
from gnomon.models import Encoder
from tests.helpers.claims import measure, verdict


def test_attention_both_ways_is_even_to_rounding_and_a_causal_mask_is_not() -> None:
    numbers = measure(1)
    assert numbers["both ways"] < 1e-12
    assert numbers["causal"] > 0.1


def test_positions_would_be_seen_by_the_same_measurement() -> None:
    with seeded(Context(0)):
        model = Encoder(SIZES, encoding=Sinusoidal(SIZES.dim)).double().eval()
    assert unevenness(model, Context(0)) > 0.01


def test_order_blindness_holds_fails_or_depends() -> None:
    assert verdict(1, {"both ways": 1e-15, "causal": 0.8}) == "depends"
    assert verdict(1, {"both ways": 1e-15, "causal": 1e-15}) == "holds"
    assert verdict(1, {"both ways": (1e-15, 0.5), "causal": 0.8}) == "fails"


def test_logits_are_not_symmetric_and_attention_is_still_blind() -> None:
    numbers = measure(2)
    assert numbers["asymmetry of the logits"] > 0.1
    assert numbers["order error"] < 1e-10
    assert verdict(2, numbers) == "fails"


def test_symmetric_logits_would_leave_the_reason_open() -> None:
    assert verdict(2, {"asymmetry of the logits": 0.0, "order error": 1e-15}) == "depends"


def test_weights_follow_the_seed_and_leave_the_generator_of_torch_alone() -> None:
    state = torch.random.get_rng_state()
    drawn = []
    for seed in (0, 0, 1):
        with seeded(Context(seed)):
            drawn.append(torch.rand(3))
    assert torch.equal(drawn[0], drawn[1])
    assert not torch.equal(drawn[0], drawn[2])
    assert torch.equal(torch.random.get_rng_state(), state)
