"""The trace of models that make their tokens themselves, of patches or frames."""

import pytest

from gnomon.doctor.evidence.trace import trace
from tests.helpers.healthy_plain import PLAIN
from tests.helpers.healthy_transformers import ROWS
from tests.helpers.tiny_transformers import tiny_model
from tests.helpers.toys import subject_of


@pytest.mark.parametrize(
    ("name", "tokens", "rotated"),
    [
        ("timm, eva with rotary", 17, 16),
        ("timm, vit", 17, None),
        ("timm, swin", 16, None),
        ("vit from scratch", 17, None),
    ],
)
def test_the_number_of_tokens_is_that_of_the_keys(name: str, tokens: int, rotated: int | None) -> None:
    seen = trace(subject_of(PLAIN[name]()))
    assert seen.length == tokens
    assert {r.cos.shape[1] for r in seen.rotations} == ({rotated} if rotated else set())


def test_patches_alone_are_rotated_and_the_tokens_in_front_of_them_are_not() -> None:
    seen = trace(subject_of(ROWS["DINOv3ViTModel"].build()))
    assert seen.length == 16 + 1
    assert {(r.layout, r.rotary_dim, r.cos.shape[1]) for r in seen.rotations} == {("half", 8, 16)}


def test_a_row_of_patches_without_an_axis_of_the_batch_is_traced() -> None:
    seen = trace(subject_of(tiny_model("qwen2_vl_vision")))
    assert seen.length == 8 * 6
    assert {r.cos.shape[1] for r in seen.rotations} == {48}


def test_a_wave_is_traced_in_frames() -> None:
    seen = trace(subject_of(ROWS["Wav2Vec2ConformerModel"].build()))
    assert seen.length == 29
    assert {r.layout for r in seen.rotations} == {"half"}
