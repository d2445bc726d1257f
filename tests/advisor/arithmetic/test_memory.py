"""Bytes, by hand and as tensors have them."""

import torch

from gnomon.advisor.arithmetic.memory import cosines_and_sines, key_value_cache, one_row_bias, vectors, whole_bias
from gnomon.encodings import ALiBi, Learned, Rotary, T5Bias


def test_a_whole_bias_is_that_of_the_encoding() -> None:
    positions = torch.arange(24).unsqueeze(0)
    assert whole_bias(6, 24) == T5Bias(6).bias(positions, positions).nbytes == 13824  # 6 x 24 x 24 x 4


def test_one_row_is_what_the_causal_form_keeps() -> None:
    positions = torch.arange(24).unsqueeze(0)
    held = ALiBi(6, form="causal").bias(positions, positions).untyped_storage().nbytes()
    assert one_row_bias(6, 24) == held == 576  # 6 x 24 x 4


def test_cosines_and_sines_are_those_of_the_encoding() -> None:
    cos, sin = Rotary(head_dim=64, rotary_dim=20).cos_sin(torch.arange(7))
    assert cosines_and_sines(20, 7) == cos.nbytes + sin.nbytes == 560  # 2 x 10 x 7 x 4


def test_a_table_is_that_of_the_encoding() -> None:
    assert vectors(48, 9, "float32") == Learned(9, 48).weight.nbytes == 1728  # 9 x 48 x 4
    assert vectors(48, 9, "bfloat16") == Learned(9, 48).to(torch.bfloat16).weight.nbytes


def test_the_cache_of_llama_2_7b_at_4096_tokens_is_two_gibibytes() -> None:
    # 2 x 32 layers x 32 heads x 128 x 4096 tokens x 2 bytes = 2^1+5+5+7+12+1 = 2^31.
    size = key_value_cache(layers=32, key_heads=32, head_dim=128, length=4096, batch=1, dtype="float16")
    assert size == 2**31
