"""PE506: weight decay on tables and biases."""

import pytest
from torch.optim import AdamW

from tests.helpers.gallery_training import BiasedByHeart, LearnedFrequencies, all_decayed, fixed, sorted_by_kind
from tests.helpers.subjects import value
from tests.helpers.toys import Toy, examine, only_finding


def test_a_decayed_table_is_noted_with_what_each_step_takes() -> None:
    result = examine("PE506", Toy(), optimizer=all_decayed)
    finding = only_finding(result)
    assert (result.severity, finding.where) == ("note", "positions.weight")
    assert "by 0.0001 of its size at every step" in finding.message
    assert finding.measured == {"weight decay": 0.1, "lr": 1e-3}


@pytest.mark.parametrize("model", [fixed(Toy(), trained=True), LearnedFrequencies(cached=False)])
def test_decay_on_a_sinusoid_or_on_frequencies_is_a_warning(model: Toy) -> None:
    assert examine("PE506", model, optimizer=all_decayed).severity == "warning"


def test_a_learned_bias_is_noted() -> None:
    assert only_finding(examine("PE506", BiasedByHeart(), optimizer=all_decayed)).where == "relative_bias"


def test_a_group_without_decay_passes() -> None:
    result = examine("PE506", Toy(), optimizer=sorted_by_kind)
    assert (result.status, value(result, "weight decay on positions.weight")) == ("passed", 0.0)


def test_what_is_frozen_does_not_decay() -> None:
    assert examine("PE506", fixed(Toy(), trained=False), optimizer=all_decayed).status == "passed"


def test_an_optimizer_that_has_no_decay_passes() -> None:
    assert examine("PE506", Toy(), optimizer=lambda m: AdamW(m.parameters(), weight_decay=0.0)).status == "passed"
