"""PE113: windowed layers and their window."""

from typing import Any

import pytest

from gnomon.adapters.subject import Subject
from gnomon.doctor import run
from gnomon.report.document import CheckResult

KINDS = ["sliding_attention", "full_attention", "sliding_attention"]


def judge(**config: Any) -> CheckResult:
    return run("PE113", Subject("config", config={"layer_types": KINDS, **config}))


@pytest.mark.parametrize(("stated", "said"), [({}, "is not given"), ({"sliding_window": 0}, "is 0")])
def test_a_window_of_nothing_is_an_error(stated: dict[str, Any], said: str) -> None:
    [finding] = judge(**stated).findings
    assert finding.message == f"2 layers are sliding_attention and sliding_window {said}"
    assert finding.fix == "write sliding_window: the window of the training"


@pytest.mark.parametrize(
    "stated", [{"sliding_window": 512}, {"local_attention": 128}, {"sliding_window": [0, 512]}, {"window_size": 64}]
)
def test_a_window_under_any_name_passes(stated: dict[str, Any]) -> None:
    assert judge(**stated).status == "passed"


def test_a_switch_against_the_list_is_a_warning() -> None:
    result = judge(sliding_window=512, use_sliding_window=False)
    assert (result.status, result.severity) == ("failed", "warning")


def test_chunks_have_a_size_of_their_own() -> None:
    assert judge(layer_types=["chunked_attention"], attention_chunk_size=8192).status == "passed"
    assert judge(layer_types=["chunked_attention"], sliding_window=512).status == "failed"


@pytest.mark.parametrize("kinds", [None, [], ["full_attention"], "sliding_attention"])
def test_without_windowed_layers_it_is_not_applicable(kinds: Any) -> None:
    assert judge(layer_types=kinds).status == "not-applicable"


@pytest.mark.parametrize(
    "fields",
    [
        {"sliding_window": 64},
        {"sliding_window": 64, "use_sliding_window": True},
        {"sliding_window": 64, "use_sliding_window": True, "max_window_layers": 2},
        {"sliding_window": 64, "use_sliding_window": True, "max_window_layers": 4},
        {"sliding_window": 64, "layer_types": [*KINDS, "full_attention"]},
        {"sliding_window": 64, "layer_types": [*KINDS, "full_attention"], "use_sliding_window": True},
    ],
)
@pytest.mark.parametrize("kind", ["Qwen2Config", "Qwen3Config"])
def test_a_window_of_qwen_that_transformers_drops_is_a_warning(kind: str, fields: dict[str, Any]) -> None:
    import transformers

    built = getattr(transformers, kind)(num_hidden_layers=4, **fields)
    slides = built.sliding_window is not None and "sliding_attention" in built.layer_types
    result = run("PE113", Subject("config", config={"model_type": built.model_type, "num_hidden_layers": 4, **fields}))
    assert (result.status, result.severity) == (("passed", "error") if slides else ("failed", "warning"))


def test_a_window_that_is_switched_off_in_words_is_no_fault() -> None:
    config = {"model_type": "qwen2", "sliding_window": 131_072, "use_sliding_window": False}
    assert run("PE113", Subject("config", config=config)).status == "passed"


def test_families_without_the_switch_need_none() -> None:
    config = {"model_type": "mistral", "sliding_window": 4096}
    assert run("PE113", Subject("config", config=config)).status == "not-applicable"
