"""Descriptions that contradict themselves, or cannot be met, are refused with the reason."""

import json
from pathlib import Path
from typing import Any

import pytest

from gnomon.advisor import ModelSizes, advise
from gnomon.errors import GnomonError
from tests.advisor.configs import BERT, LLAMA_4K

LM: dict[str, Any] = {"task": "language-model"}
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({}, "Say what the advice is for: --task"),
    ({"sizes": ModelSizes(dim=512)}, "Say what the advice is for"),
    ({"task": "poetry"}, "The task is one of classification, .*, got 'poetry'"),
    ({**LM, "need": "both"}, "The need is one of absolute, relative, got 'both'"),
    ({**LM, "device": "moon"}, "The device is one of edge, server, got 'moon'"),
    ({**LM, "limits": ["onnx", "none"]}, "The limit is one of flash-attention, .*, got 'none'"),
    ({**LM, "trained": 512, "target": 256}, "target of 256 tokens is shorter than the trained length of 512"),
    ({**LM, "trained": -1}, "The trained length must be a whole number from 1 to 2\\^40, got -1"),
    ({**LM, "target": 0}, "The target length must be a whole number"),
    ({**LM, "trained": 2**41}, "The trained length must be a whole number"),
    ({**LM, "trained": 5.5}, "The trained length must be a whole number from 1 to 2\\^40, got 5.5"),
    ({**LM, "trained": True}, "The trained length must be a whole number from 1 to 2\\^40, got True"),
    ({**LM, "causal": "yes"}, "The argument causal is True or False, got 'yes'"),
    ({**LM, "cut": None}, "The argument cut is True or False, got None"),
    ({**LM, "unlimited": 1}, "The argument unlimited is True or False, got 1"),
    ({"family": "llama", "fine_tune": "no"}, "The argument fine_tune is True or False"),
    ({**LM, "sizes": {"dim": 4}}, "The sizes are a gnomon.advisor.ModelSizes, got {'dim': 4}"),
    ({**LM, "percentiles": [95]}, "The percentiles are a mapping, as {95: 480}, got list"),
    ({**LM, "limits": "onnx"}, "The limits are a list of words, as \\['onnx'\\], got 'onnx'"),
    ({**LM, "limits": None}, "The limits are a list of words"),
    ({**LM, "lengths": b"abc"}, "Lengths are a list of numbers of tokens, or a file of them, got bytes"),
    ({"checkpoint": 5}, "A checkpoint is a path, and a family is a model type"),
    ({"family": ["llama"]}, "A checkpoint is a path, and a family is a model type"),
    ({**LM, "measured": 5}, "There is no JSON file of measured facts at '5'"),
    ({**LM, "cut": False, "target": 99, "percentiles": {100: 100}}, "the longest has 100 tokens and --target is 99"),
    ({**LM, "examples": 0}, "The number of examples must be a whole number"),
    ({**LM, "tokens": -5}, "The number of tokens must be a whole number"),
    ({**LM, "examples": 10, "tokens": 10}, "a number of examples or of tokens, not both"),
    ({**LM, "sizes": ModelSizes(dim=0)}, "The dim must be a whole number from 1 to 2\\^20, got 0"),
    ({**LM, "sizes": ModelSizes(num_layers=-2)}, "The num_layers must be a whole number"),
    ({**LM, "sizes": ModelSizes(batch=0)}, "The batch must be a whole number"),
    ({**LM, "sizes": ModelSizes(dtype="int8")}, "The dtype is one of float32, bfloat16, float16, got 'int8'"),  # type: ignore[arg-type]
    ({**LM, "sizes": ModelSizes(head_dim=65)}, "head_dim 65 is odd: .*; use 64 or 66"),
    ({**LM, "sizes": ModelSizes(head_dim=1)}, "head_dim 1 is odd: .*; use 2\\."),
    ({**LM, "sizes": ModelSizes(dim=500, num_heads=8)}, "8 heads do not divide a width of 500"),
    ({**LM, "sizes": ModelSizes(dim=520, num_heads=8)}, "8 heads of a width of 520 are 65 wide, which is odd"),
    ({**LM, "sizes": ModelSizes(dim=513)}, "A width of 513 is odd"),
    ({**LM, "sizes": ModelSizes(key_heads=2)}, "--key-heads needs --num-heads"),
    ({**LM, "sizes": ModelSizes(num_heads=8, key_heads=3)}, "3 key heads do not divide 8 heads"),
    ({**LM, "percentiles": {50: 100, 95: 80}}, "percentile 50 is 100 tokens and percentile 95 is 80"),
    ({**LM, "percentiles": {95: 480, 100: 400}}, "percentile 95 is 480 tokens and the longest input is 400"),
    ({**LM, "percentiles": {0: 5}}, "A percentile is a whole number from 1 to 100 .*, got 0"),
    ({**LM, "percentiles": {101: 5}}, "A percentile is a whole number from 1 to 100"),
    ({**LM, "percentiles": {95: 0}}, "The percentile 95 must be a whole number"),
    ({**LM, "percentiles": {95: 5}, "lengths": [5]}, "as percentiles, but not as both"),
    ({**LM, "lengths": []}, "There is no length"),
    ({**LM, "lengths": [3, -1]}, "Entry 2 is no number of tokens: '-1'"),
    ({**LM, "lengths": [0, 0]}, "Every length is 0"),
    ({**LM, "lengths": "no-such-file.txt"}, "There is no text file of lengths at 'no-such-file.txt'"),
    ({**LM, "unlimited": True, "target": 900}, "--unlimited says that inputs have no longest length, and --target 900"),
    ({**LM, "unlimited": True, "need": "absolute"}, "Absolute positions decide, and inputs have no longest length"),
    ({**LM, "cut": False}, "--no-cut needs the longest input"),
    ({**LM, "cut": False, "lengths": [900], "target": 512}, "the longest has 900 tokens and --target is 512"),
    ({"task": "images", "causal": True}, "A model for images sees the whole grid, and --causal"),
    ({"task": "video", "causal": True}, "A model for video sees the whole grid"),
    ({"task": "vision-language", "causal": False}, "writes text from left to right, and --no-causal"),
    ({"task": "video", "sizes": ModelSizes(head_dim=6)}, "A head of 6 columns is too narrow for 3 axes"),
    ({**LM, "fine_tune": True}, "--fine-tune and --no-fine-tune are about a checkpoint"),
    ({**LM, "family": "llama-17"}, "No model family is called 'llama-17'"),
    ({**LM, "family": "llama", "checkpoint": "x"}, "from a checkpoint or from a family, not from both"),
    ({**LM, "checkpoint": "no/such/folder"}, "There is no file or folder 'no/such/folder'"),
    ({**LM, "checkpoint": ""}, "The target is empty"),
    ({**LM, "family": "bloom", "target": 4096}, "bloom states no trained length; give it with --trained"),
    ({"family": "swin"}, "No position encoding was found in the family swin"),
    ({**LM, "measured": "no-such.json"}, "no JSON file of measured facts at 'no-such.json'"),
]

OF_CHECKPOINTS: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    (LLAMA_4K, {"trained": 8192}, "--trained 8192 is more than the 4096 positions that .* states"),
    (LLAMA_4K, {"target": 2048}, "--target 2048 is shorter than the 4096 positions that .* has already"),
    (LLAMA_4K, {"causal": False}, "looks back only, and --no-causal says otherwise"),
    (BERT, {"causal": True}, "sees both sides, and --causal says otherwise"),
    (LLAMA_4K, {"sizes": ModelSizes(num_heads=16)}, "has num_heads 32, and 16 was given"),
    (LLAMA_4K, {"sizes": ModelSizes(head_dim=64)}, "has head_dim 128, and 64 was given"),
]


@pytest.mark.parametrize(("given", "reason"), REFUSED, ids=[reason[:40] for _, reason in REFUSED])
def test_a_contradiction_is_refused_with_its_reason(given: dict[str, Any], reason: str) -> None:
    with pytest.raises(GnomonError, match=reason):
        advise(**given)


@pytest.mark.parametrize(("config", "given", "reason"), OF_CHECKPOINTS, ids=[it[2][:40] for it in OF_CHECKPOINTS])
def test_what_contradicts_the_checkpoint_is_refused(
    config: dict[str, Any], given: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(GnomonError, match=reason):
        advise(checkpoint=path, **given)


def test_when_no_encoding_is_left_each_of_them_says_why() -> None:
    with pytest.raises(GnomonError, match=r"No encoding is left .* keep: the fused .* switch: another encoding"):
        advise(family="t5", trained=512, target=2048, fine_tune=False, limits=["no-bias"])


@pytest.mark.parametrize("given", [{"task": "tagging"}, {"trained": 9}, {"device": "edge"}, {"unlimited": True}])
def test_one_fact_is_enough_and_the_rest_is_assumed_in_the_open(given: dict[str, Any]) -> None:
    advice = advise(**given)
    assert advice.assumptions
    assert any("dim 512, num_heads 8, head_dim 64" in said for said in advice.assumptions)
