"""PE128: modules that a device map forgets."""

from typing import Any

import pytest
import torch
from torch import nn

from gnomon.report.document import CheckResult
from tests.helpers.subjects import holding
from tests.helpers.toys import Toy, examine, llama

LAYERS = {"model.embed_tokens": 0, "model.layers": 0, "model.norm": "cpu", "lm_head": 0}


def judge(placed: Any, module: nn.Module | None = None) -> CheckResult:
    return examine("PE128", module or llama(), device_map=placed)


def test_the_module_of_the_frequencies_is_named() -> None:
    result = judge(LAYERS)
    [finding] = result.findings
    assert (finding.where, result.severity) == ("model.rotary_emb", "error")
    assert "model.rotary_emb.inv_freq" in finding.message
    assert finding.measured["holds positions"] is True


@pytest.mark.parametrize("placed", [{"": 0}, {**LAYERS, "model.rotary_emb": 0}, {"model": 0, "lm_head": 1}])
def test_a_map_that_covers_all_passes(placed: dict[str, Any]) -> None:
    assert judge(placed).status == "passed"


def test_a_name_that_only_begins_alike_does_not_cover() -> None:
    assert [f.where for f in judge({**LAYERS, "model.rotary": 0}).findings] == ["model.rotary_emb"]


def test_any_module_is_examined_by_its_own_names() -> None:
    result = judge({"words": 0, "layers": 0}, Toy())
    assert [finding.where for finding in result.findings] == ["positions"]


def test_files_without_a_model_are_examined_by_what_they_hold() -> None:
    from gnomon.doctor import run

    subject = holding({"wpe.weight": torch.zeros(2, 2), "h.0.weight": torch.zeros(2)}, device_map={"h": 0})
    assert [finding.where for finding in run("PE128", subject).findings] == ["wpe"]


def test_a_word_in_place_of_a_map_and_no_map_are_not_applicable() -> None:
    assert judge("auto").status == "not-applicable"
    assert examine("PE128", llama()).status == "not-applicable"
