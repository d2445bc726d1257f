"""PE503: outputs follow a bias that gets no gradient."""

import pytest
import torch

from gnomon.encodings import KERPLE, Shaw, T5Bias
from tests.helpers.gallery_training import BiasedByHeart, Flex, LearnedFrequencies
from tests.helpers.healthy import FOREIGN, decoder
from tests.helpers.subjects import value
from tests.helpers.tiny_transformers import tiny_model
from tests.helpers.toys import Toy, examine, only_finding


def test_a_learned_bias_that_is_detached_is_found_by_name() -> None:
    result = examine("PE503", BiasedByHeart(lambda bias: bias.detach()))
    finding = only_finding(result)
    assert (result.severity, finding.where) == ("error", "relative_bias")
    assert finding.measured["effect"] > 0.01
    assert "does not exist" in finding.message


def test_a_gradient_that_is_always_zero_is_found() -> None:
    result = examine("PE503", BiasedByHeart(lambda bias: bias.detach() + 0 * bias))
    assert "its gradient is zero" in only_finding(result).message


def test_a_backward_pass_that_is_not_supported_is_said_in_its_own_words() -> None:
    result = examine("PE503", BiasedByHeart(lambda bias: Flex.apply(torch.zeros_like(bias), bias)))
    assert "captured bias is not supported" in only_finding(result).message


def test_the_same_bias_inside_autograd_passes() -> None:
    result = examine("PE503", BiasedByHeart())
    assert (result.status, value(result, "gradient reaches relative_bias")) == ("passed", "True")


@pytest.mark.parametrize("encoding", [T5Bias(4), Shaw(4, 8), KERPLE(4)])
def test_biases_of_gnomon_pass(encoding: T5Bias | Shaw | KERPLE) -> None:
    assert examine("PE503", decoder(encoding)).status == "passed"


@pytest.mark.parametrize("family", ["t5", "swinv2", "xlnet"])
def test_biases_of_transformers_pass(family: str) -> None:
    assert examine("PE503", tiny_model(family)).status in ("passed", "not-applicable")
    assert examine("PE503", tiny_model("t5")).status == "passed"


def test_learned_frequencies_pass() -> None:
    assert examine("PE503", LearnedFrequencies(cached=False)).status == "passed"


def test_a_model_whose_positions_are_computed_is_not_judged() -> None:
    result = examine("PE503", FOREIGN["llama"]())
    assert (result.status, result.detail) == ("not-applicable", "no parameter of the model carries positions")


def test_frozen_parameters_are_not_judged() -> None:
    model = Toy()
    model.positions.weight.requires_grad_(False)
    assert examine("PE503", model).detail == "no parameter that carries positions asks for a gradient"


def test_a_forward_without_autograd_is_not_judged() -> None:
    class Inference(Toy):
        forward = torch.no_grad()(Toy.forward)

    assert "without autograd" in examine("PE503", Inference()).detail
