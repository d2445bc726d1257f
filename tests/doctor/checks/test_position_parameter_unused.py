"""PE504: a parameter whose gradient comes and goes, or never comes."""

import torch
from torch import nn

from tests.helpers.gallery_training import BiasedByHeart, LearnedFrequencies
from tests.helpers.subjects import value
from tests.helpers.tiny_transformers import tiny_model
from tests.helpers.toys import Toy, examine, only_finding


class Forgotten(Toy):
    """A table that nothing reads, beside the one that is used."""

    def __init__(self) -> None:
        super().__init__()
        self.rel_pos_bias = nn.Parameter(torch.zeros(8))


def test_a_cache_that_bypasses_the_parameter_after_the_first_call_is_an_error() -> None:
    result = examine("PE504", LearnedFrequencies(cached=True))
    finding = only_finding(result)
    assert (result.severity, finding.where) == ("error", "freqs")
    assert "in 1 of 2 steps" in finding.message


def test_a_parameter_that_nothing_reads_is_warned_about() -> None:
    result = examine("PE504", Forgotten())
    finding = only_finding(result)
    assert (result.severity, finding.where) == ("warning", "rel_pos_bias")
    assert finding.measured == {"steps": 2, "with a gradient": 0}


def test_a_parameter_in_every_step_passes() -> None:
    result = examine("PE504", LearnedFrequencies(cached=False))
    assert (result.status, value(result, "steps in which freqs has a gradient")) == ("passed", 2)


def test_a_tower_that_was_not_run_is_not_blamed() -> None:
    assert examine("PE504", tiny_model("gemma3")).status == "passed"


def test_a_detached_parameter_that_is_used_is_the_matter_of_another_check() -> None:
    assert examine("PE504", BiasedByHeart(lambda bias: bias.detach())).status == "passed"
