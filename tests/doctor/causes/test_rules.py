"""The rules on whole models: findings that one fault brings are told as one."""

from collections.abc import Callable

import pytest
from torch import nn

from gnomon.doctor import diagnose
from gnomon.doctor.causes.rules import RULES
from gnomon.doctor.check import registry
from tests.mutation import models

CODES = {check.code for _, check in registry}


@pytest.mark.parametrize(
    ("build", "headline", "codes"),
    [
        (models.wrong_base, "the rotary base is 10000 where the config says 1000000.0", {"PE203", "PE307"}),
        (models.half_precision_ids, "rounded to bfloat16 in the forward", {"PE301", "PE303", "PE307"}),
        (models.all_zero, "the table is zero", {"PE206", "PE302", "PE306", "PE502"}),
        (models.sign_flipped, "the sine columns have the wrong sign", {"PE203", "PE309"}),
        (models.over_the_batch, "positions vary along the batch axis", {"PE302", "PE305", "PE306"}),
        (models.masked_out, "positions never arrive", {"PE302", "PE306", "PE502"}),
    ],
)
def test_the_findings_of_one_fault_have_one_headline(
    build: Callable[[], nn.Module], headline: str, codes: set[str]
) -> None:
    report = diagnose(build())
    [cause] = [c for c in report.causes if headline in c.headline]
    assert codes <= {code for code, _ in cause.findings}
    found = ((c, i, f) for c in report.failed for i, f in enumerate(c.findings))
    errors = {(c.code, i) for c, i, f in found if (f.severity or c.severity) == "error"}
    assert errors <= set(cause.findings), "an error is left without the cause"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_names_checks_that_exist(rule: "object") -> None:
    assert {rule.root, *rule.explains} <= CODES  # type: ignore[attr-defined]
