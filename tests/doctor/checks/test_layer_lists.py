"""PE111: lists with an entry for each layer."""

from typing import Any

import pytest

from gnomon.adapters.subject import Subject
from gnomon.doctor import run
from gnomon.report.document import CheckResult
from tests.helpers.subjects import value

FULL, SLIDING = "full_attention", "sliding_attention"


def judge(**config: Any) -> CheckResult:
    return run("PE111", Subject("config", config=config))


@pytest.mark.parametrize("key", ["layer_types", "no_rope_layers"])
def test_a_list_of_another_length_is_counted(key: str) -> None:
    entries: list[Any] = [FULL] * 3 if key == "layer_types" else [1, 1, 1]
    [finding] = judge(num_hidden_layers=4, **{key: entries}).findings
    assert finding.message == f"{key} has 3 entries for 4 layers"
    assert finding.fix == f"give {key} 4 entries"


@pytest.mark.parametrize(
    ("kind", "meant"), [("Full_Attention", FULL), ("sliding", SLIDING), ("global_attention", FULL), ("local", SLIDING)]
)
def test_a_kind_that_readers_do_not_know_is_named(kind: str, meant: str) -> None:
    [finding] = judge(num_hidden_layers=1, layer_types=[kind]).findings
    assert (finding.severity, finding.fix) == ("error", f"write {meant}")


def test_kinds_of_other_families_are_left_alone() -> None:
    kinds = ["compressed_sparse_attention", "mlp", "conv", "hybrid_sliding"]
    assert judge(num_hidden_layers=4, layer_types=kinds).status == "passed"


@pytest.mark.parametrize("key", ["sliding_window_pattern", "_sliding_window_pattern"])
def test_an_interval_that_contradicts_the_list_is_a_warning(key: str) -> None:
    kinds = [SLIDING, SLIDING, FULL, SLIDING, SLIDING, FULL]
    result = judge(num_hidden_layers=6, layer_types=kinds, **{key: 6})
    assert (result.severity, result.findings[0].measured["full"]) == ("warning", 2)
    assert judge(num_hidden_layers=6, layer_types=kinds, **{key: 3}).status == "passed"


def test_the_first_of_each_group_may_be_the_full_one() -> None:
    kinds = [FULL, SLIDING, SLIDING, FULL, SLIDING, SLIDING]
    assert judge(num_hidden_layers=6, layer_types=kinds, global_attn_every_n_layers=3).status == "passed"


def test_a_list_of_layers_without_rotation_that_looks_inverted_is_counted() -> None:
    result = judge(num_hidden_layers=4, no_rope_layers=[0, 0, 0, 1])
    assert result.severity == "warning"
    assert result.findings[0].measured == {"without rotation": 3, "layers": 4}
    assert "[1, 1, 1, 0]" in result.findings[0].fix


@pytest.mark.parametrize(("step", "status"), [(4, "passed"), (2, "failed"), (None, "passed")])
def test_the_interval_says_the_same_as_the_list(step: int | None, status: str) -> None:
    config = {"num_hidden_layers": 4, "no_rope_layers": [1, 1, 1, 0], "no_rope_layer_interval": step}
    assert judge(**config).status == status


def test_other_entries_than_0_and_1_are_an_error() -> None:
    result = judge(num_hidden_layers=3, no_rope_layers=[3, 1, 0])
    assert (result.severity, result.findings[0].message) == ("error", "no_rope_layers holds 3; entries are 0 and 1")


def test_lists_that_fit_pass() -> None:
    result = judge(num_hidden_layers=2, layer_types=[SLIDING, FULL], no_rope_layers=[1, 1])
    assert (result.status, value(result, "lists of layers that do not fit")) == ("passed", 0)


@pytest.mark.parametrize("config", [{}, {"layer_types": None}, {"no_rope_layers": 4}, {"layer_types": []}])
def test_without_a_list_it_is_not_applicable(config: dict[str, Any]) -> None:
    assert judge(**config).status == "not-applicable"


def test_the_interval_that_saving_writes_beside_any_list_contradicts_nothing() -> None:
    from transformers import SmolLM3Config

    written = SmolLM3Config(num_hidden_layers=2, no_rope_layers=[1, 0]).to_dict()
    assert written["no_rope_layer_interval"] == 4
    assert judge(**written).status == "passed"


@pytest.mark.parametrize("kind", ["sliding_atention", "sliding_attenton", "slidng_attention", "Sliding_Atention"])
def test_a_kind_that_is_misspelt_is_named(kind: str) -> None:
    [finding] = judge(num_hidden_layers=1, layer_types=[kind]).findings
    assert (finding.severity, finding.fix) == ("error", f"write {SLIDING}")
