"""PE505: parameters that no optimizer moves, or two."""

from typing import Any

import pytest
import torch
from torch import nn
from torch.optim import SGD, AdamW

from gnomon.adapters import load_subject
from gnomon.doctor import run
from gnomon.errors import GnomonError
from gnomon.report.document import CheckResult
from tests.helpers.gallery_training import BareTable, BiasedByHeart, fixed, sorted_by_kind
from tests.helpers.subjects import value
from tests.helpers.toys import Toy, examine, only_finding


def judged(model: nn.Module, optimizer: object) -> CheckResult:
    return run("PE505", load_subject(model).with_evidence(optimizer=optimizer))


def test_a_bare_parameter_that_grouping_by_kind_leaves_out_is_found() -> None:
    result = judged(BareTable(), sorted_by_kind)
    finding = only_finding(result)
    assert (result.severity, finding.where) == ("error", "position_embedding")
    assert "add position_embedding to a parameter group" in finding.fix


def test_a_bias_table_that_is_left_out_is_found_too() -> None:
    assert only_finding(judged(BiasedByHeart(), sorted_by_kind)).where == "relative_bias"


def test_parameters_are_those_of_the_module_that_was_passed() -> None:
    model = Toy()
    result = judged(model, AdamW(model.parameters()))
    assert (result.status, value(result, "groups that hold positions.weight")) == ("passed", 1)


def test_an_optimizer_of_another_copy_is_found() -> None:
    finding = only_finding(judged(Toy(), AdamW(Toy().parameters())))
    assert (finding.where, finding.measured["held"]) == ("the optimizer", 0)


def test_a_table_that_was_replaced_after_the_optimizer_was_made_is_found() -> None:
    model = Toy()
    optimizer = AdamW(model.parameters())
    model.positions.weight = nn.Parameter(torch.zeros(64, 32))
    finding = only_finding(judged(model, optimizer))
    assert "replaced after the optimizer was made" in finding.message


def test_several_optimizers_share_the_parameters() -> None:
    model = Toy()
    first = SGD(model.positions.parameters(), lr=0.1)
    second = AdamW([*model.words.parameters(), *model.layers.parameters()])
    assert judged(model, [first, second]).status == "passed"
    finding = only_finding(judged(model, [first, second, SGD(model.positions.parameters(), lr=0.1)]))
    assert finding.measured == {"groups": 2}


def test_a_group_whose_rate_is_zero_beside_others_is_warned_about() -> None:
    model = Toy()
    rest = [p for name, p in model.named_parameters() if not name.startswith("positions")]
    groups: list[dict[str, Any]] = [{"params": rest}, {"params": model.positions.parameters(), "lr": 0.0}]
    result = judged(model, AdamW(groups, lr=3e-4))
    assert (result.severity, only_finding(result).measured) == ("warning", {"lr": 0.0, "other lr": 3e-4})


def test_a_warm_up_that_starts_at_zero_everywhere_passes() -> None:
    model = Toy()
    assert judged(model, AdamW(model.parameters(), lr=0.0)).status == "passed"


def test_a_frozen_table_need_not_be_in_it() -> None:
    model = fixed(Toy(), trained=False)
    assert judged(model, AdamW([p for p in model.parameters() if p.requires_grad])).status == "passed"


def test_without_an_optimizer_it_is_not_applicable() -> None:
    assert examine("PE505", Toy()).detail == "no optimizer"


def test_what_is_no_optimizer_is_refused_in_one_sentence() -> None:
    from gnomon.doctor.evidence.optimizing import optimizers

    with pytest.raises(GnomonError, match=r"torch\.optim\.Optimizer or a function"):
        optimizers(load_subject(Toy()).with_evidence(optimizer=3))
