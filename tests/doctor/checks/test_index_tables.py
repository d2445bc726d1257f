"""PE214: stored indices against the formula they follow, whatever the buffer is called."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from gnomon.doctor import run
from gnomon.doctor.evidence.offsets import grids_of
from gnomon.encodings import T5Bias
from tests.helpers.subjects import holding
from tests.helpers.tiny_transformers import tiny_model
from tests.helpers.toys import examine, only_finding

INDEX, BIASES = "layer.relative_position_index", "layer.relative_position_bias_table"


def window(height: int, width: int) -> Tensor:
    """Liu et al. 2021, section 3.2, as their code numbers the offsets."""
    places = [(y, x) for y in range(height) for x in range(width)]
    pairs = [[(a[0] - b[0] + height - 1) * (2 * width - 1) + a[1] - b[1] + width - 1 for b in places] for a in places]
    return torch.tensor(pairs)


def check(tensors: dict[str, Tensor]) -> Any:
    return run("PE214", holding(tensors))


@pytest.mark.parametrize("ids", [torch.arange(77), torch.arange(77)[None], torch.arange(2, 79), torch.arange(77).int()])
def test_ids_that_count_pass(ids: Tensor) -> None:
    assert check({"embeddings.position_ids": ids}).status == "passed"


def test_averaged_ids_are_found_with_the_places_that_fall_together() -> None:
    finding = only_finding(check({"embeddings.position_ids": (torch.arange(77) * 0.99)[None]}))
    assert "76 distinct entries for 77 places" in finding.message  # 0 and 0.99 both become 0
    assert "0 to 76 in order" in finding.fix


def test_truncated_ids_are_found_with_the_first_wrong_place() -> None:
    finding = only_finding(check({"position_ids": (torch.arange(77) * 0.99).long()}))
    assert "place 1 holds 0 after 0" in finding.message
    assert finding.severity == "error"


def test_ids_in_another_order_are_a_warning() -> None:
    result = check({"position_ids": torch.arange(9).flip(0)})
    assert (result.status, result.severity) == ("failed", "warning")


def test_ids_as_floats_are_a_warning() -> None:
    result = check({"position_ids": torch.arange(9).half()})
    assert (result.status, result.severity) == ("failed", "warning")
    assert "float16" in result.findings[0].message


@pytest.mark.parametrize(("height", "width"), [(7, 7), (2, 3), (1, 4), (8, 4)])
def test_the_offsets_of_windows_pass(height: int, width: int) -> None:
    rows = torch.zeros((2 * height - 1) * (2 * width - 1), 3)
    assert check({INDEX: window(height, width), BIASES: rows}).status == "passed"
    assert check({INDEX: window(height, width).flatten(), BIASES: rows}).status == "passed"  # transformers' Swin
    assert check({INDEX: window(height, width)}).status == "passed"
    assert (height, width) in grids_of(window(height, width).numpy())


def test_another_numbering_of_the_offsets_is_as_good() -> None:
    shuffled = torch.randperm(15, generator=torch.Generator().manual_seed(0))[window(2, 3)]
    assert check({INDEX: shuffled}).status == "passed"


def test_a_class_token_before_the_window_passes() -> None:
    """BEiT: three more rows, for pairs with the class token."""
    index = torch.full((7, 7), 15)
    index[1:, 1:], index[0, 1:], index[0, 0] = window(2, 3), 16, 17
    assert check({INDEX: index, BIASES: torch.zeros(18, 4)}).status == "passed"


def test_an_index_that_was_never_filled_is_found() -> None:
    finding = only_finding(check({INDEX: torch.full((49, 49), 93_824_992_231_312), BIASES: torch.zeros(169, 3)}))
    assert "rows 0 to 168" in finding.message
    assert "uninitialised" in finding.fix


def test_an_index_of_zeros_is_found() -> None:
    """Memory that was never filled may well be zero: all offsets then share a row."""
    assert "different offsets one" in only_finding(check({INDEX: torch.zeros(6, 6).long()})).message


def test_the_index_of_the_turned_window_is_found_where_the_table_says_which() -> None:
    """Height and width swapped: 3 x 2 offsets beside the places of 2 x 3."""
    turned = window(3, 2)
    assert check({INDEX: turned}).status == "passed"  # alone it is a window of 3 x 2
    assert only_finding(check({INDEX: window(2, 3).T[torch.tensor([0, 2, 4, 1, 3, 5])]})).where == INDEX


def test_an_index_for_another_window_is_beyond_its_table() -> None:
    finding = only_finding(check({INDEX: window(4, 4), BIASES: torch.zeros(25, 3)}))
    assert "0 to 48, but its table has rows 0 to 24" in finding.message


def buckets(length: int, *, cap: bool = True) -> Tensor:
    """T5's two-way buckets of 32 and a range of 128, through gnomon's own encoding unless the cap is to be missing."""
    biases = T5Bias(1)
    with torch.no_grad():
        biases.weight.copy_(torch.arange(32.0)[:, None])
    places = torch.arange(length)[None]
    right = biases.bias(places, places)[0, 0].long()
    offset = places - places.T
    far = offset.abs() >= 128
    return right if cap else right + far * (1 + (offset.abs() - 128) // 64)


def test_buckets_pass_and_without_their_cap_run_into_the_other_side() -> None:
    assert check({"relative_bucket": buckets(300)}).status == "passed"
    finding = only_finding(check({"relative_bucket": buckets(300, cap=False)}))
    assert "share bucket 16" in finding.message or "share bucket 17" in finding.message
    beside = {"relative_bucket": buckets(300, cap=False), "relative_attention_bias": torch.zeros(32, 2)}
    assert "rows 0 to 31" in only_finding(check(beside)).message


def test_buckets_of_shuffled_places_depend_on_more_than_the_offset() -> None:
    shuffled = buckets(23)[torch.randperm(23, generator=torch.Generator().manual_seed(1))]
    assert "does not depend on the offset alone" in only_finding(check({"relative_bucket": shuffled})).message


@pytest.mark.parametrize("model_type", ["bert", "roberta", "swin", "swinv2", "gpt_bigcode", "esm"])
def test_the_buffers_of_released_models_pass(model_type: str) -> None:
    result = examine("PE214", tiny_model(model_type))
    assert result.status == ("not-applicable" if model_type == "gpt_bigcode" else "passed"), result.findings


def test_a_model_on_the_meta_device_has_nothing_to_judge() -> None:
    assert check({"words": torch.zeros(3, 3)}).status == "not-applicable"


def test_levit_shares_a_row_between_both_directions() -> None:
    places = [(y, x) for y in range(4) for x in range(4)]
    seen: dict[tuple[int, int], int] = {}
    pairs = [(abs(a[0] - b[0]), abs(a[1] - b[1])) for a in places for b in places]
    index = torch.tensor([seen.setdefault(pair, len(seen)) for pair in pairs]).view(16, 16)
    tensors = {"attn.attention_bias_idxs": index, "attn.attention_biases": torch.zeros(4, len(seen))}
    assert check(tensors).status == "passed"
    index[3, 5] = 0
    assert check(tensors).status == "failed"


def test_a_large_map_is_read_in_a_moment() -> None:
    assert grids_of(window(32, 32).numpy(), 63 * 63) == [(32, 32)]
    assert not grids_of(np.zeros((1024, 1024), dtype=np.int64), 63 * 63)
