"""No false alarm: the checks that need a config alone, on published configs and on every class of transformers."""

import json
import time
from functools import cache
from typing import Any

import pytest

from gnomon.adapters.checkpoints.huggingface import config_evidence
from gnomon.adapters.subject import Subject
from gnomon.doctor.runner import chosen, run_all
from gnomon.report.document import CheckResult
from tests.helpers.published_configs import PUBLISHED, QWEN_EXTENDED, TRUE_OF_PUBLISHED

#: default configs that are no published model: Qwen 2's code has base 10,000, and its weights have 1,000,000
QWEN2_DEFAULTS = (
    *("qwen2", "qwen2_moe", "qwen2_audio", "audioflamingo3", "fast_vlm", "internvl", "llava_onevision"),
    *("musicflamingo", "ovis2", "vibevoice", "vibevoice_asr", "video_llama_3"),
)
AT_LEAST = 60
SECONDS = 0.05  # for one config; they take 1 ms


def examine(config: dict[str, Any]) -> tuple[CheckResult, ...]:
    return run_all(chosen("PE1", None), Subject("config", **config_evidence(config)))


def failed(config: dict[str, Any]) -> dict[str, str]:
    results = examine(config)
    assert [result.detail for result in results if result.status == "crashed"] == []
    return {result.code: result.severity for result in results if result.status == "failed"}


@cache
def default_configs() -> dict[str, dict[str, Any]]:
    """The default config of every class of transformers that has one, as it is saved."""
    from transformers import CONFIG_MAPPING

    configs = {}
    for name in CONFIG_MAPPING:
        try:
            configs[name] = json.loads(CONFIG_MAPPING[name]().to_json_string(use_diff=False))
        except Exception:  # noqa: BLE001 - some have no default
            continue
    return configs


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_configs_have_no_fault(name: str) -> None:
    known = {code: severity for (model, code), severity in TRUE_OF_PUBLISHED.items() if model == name}
    assert failed(PUBLISHED[name]) == known


def test_an_extension_by_the_model_card_has_one_warning_that_is_true() -> None:
    assert failed(QWEN_EXTENDED) == {"PE102": "warning"}


def test_default_configs_of_transformers_have_no_fault() -> None:
    configs = default_configs()
    assert len(configs) >= AT_LEAST
    loud = {name: found for name, config in configs.items() if (found := failed(config))}
    assert loud == {name: {"PE110": "warning"} for name in QWEN2_DEFAULTS if name in configs}


def test_they_look_at_most_of_what_they_are_silent_about() -> None:
    passed = {r.code for config in default_configs().values() for r in examine(config) if r.status == "passed"}
    needs_a_caller = {"PE104", "PE108", "PE109", "PE128"}
    assert passed | needs_a_caller == {check.code for check in chosen("PE1", None)}


def test_a_config_takes_milliseconds() -> None:
    started = time.perf_counter()
    for config in PUBLISHED.values():
        examine(config)
    assert (time.perf_counter() - started) / len(PUBLISHED) < SECONDS


@pytest.mark.parametrize(
    "value", [None, True, -1, 0, 1e400, float("nan"), "x", [], [None], {}, {"a": {"b": []}}, 10**40]
)
def test_nothing_that_a_key_may_hold_breaks_a_check(value: Any) -> None:
    for base in (PUBLISHED["gemma 3 4b, saved by transformers 5"], PUBLISHED["deepseek v3"], PUBLISHED["smollm3 3b"]):
        for key in base:
            results = examine({**base, key: value})
            assert [(key, r.detail) for r in results if r.status == "crashed"] == []
        for name in ("rope_scaling", "rope_parameters"):
            for key in ("rope_type", "type", "factor", "mscale", "short_factor", "mrope_section", "attn_factor"):
                block = {"rope_type": "yarn", "factor": 4.0, key: value}
                results = examine({**base, name: block})
                assert [(name, key, r.detail) for r in results if r.status == "crashed"] == []
