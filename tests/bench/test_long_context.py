"""The steps of a long context do the same work: outputs are equal, and keeping keeps what it says."""

import pytest
import torch

from gnomon.bench.benches import long_context as bench
from gnomon.bench.cell import Request
from gnomon.bench.long_context import decoder_steps, encoder_steps
from gnomon.bench.long_context.model import DECODER, ENCODER, Model
from gnomon.bench.long_context.step import Kept, Memory
from gnomon.encodings import T5Bias

TOKENS = 30


def outputs(steps: object, sizes: object) -> dict[str, torch.Tensor]:
    tokens = torch.randn(1, TOKENS, sizes.width, generator=torch.Generator().manual_seed(1))  # type: ignore[attr-defined]
    return {name: Model(sizes, 2, steps.STEPS[name]())(tokens) for name in steps.STEPS}  # type: ignore[attr-defined, arg-type]


@pytest.mark.parametrize(("steps", "sizes"), [(encoder_steps, ENCODER), (decoder_steps, DECODER)])
def test_all_steps_have_the_output_of_the_first_but_the_one_without_positions(steps: object, sizes: object) -> None:
    found = outputs(steps, sizes)
    first = found[steps.EXACT]  # type: ignore[attr-defined]
    apart = {name: float((x - first).abs().max()) for name, x in found.items()}
    rounded = {name: far for name, far in apart.items() if "bfloat16" in name}
    assert apart.pop(steps.LIMIT) > 0.01  # type: ignore[attr-defined]
    assert len(rounded) == 1
    assert all(1e-5 < far < 0.05 for far in rounded.values())
    assert max(far for name, far in apart.items() if name not in rounded) < 1e-4


def test_the_naive_bias_is_that_of_t5() -> None:
    encoding = T5Bias(encoder_steps.HEADS)
    encoding.weight.data = encoder_steps.weight()
    positions = torch.arange(300)[None]
    matrix = encoder_steps.Matrix("never").alone(torch.empty(1, 12, 300, 64), torch.empty(0))
    torch.testing.assert_close(matrix, encoding.bias(positions, positions), rtol=0, atol=0)


@pytest.mark.parametrize(("kept", "made"), [("never", 6), ("always", 2)])
def test_what_is_kept_is_made_anew_no_more_often_than_it_says(kept: Kept, made: int) -> None:
    lengths: list[int] = []
    memory = Memory(kept, lengths.append)
    for length in (7, 7, 9):
        memory.of(length)
        memory.of(length)
    assert len(lengths) == made
    memory.forget()
    memory.of(9)
    assert len(lengths) == made + 1


def test_without_the_memory_for_it_a_step_is_left_out_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "available", lambda: 1000)
    cells = list(bench.long_context(Request(tiny=True)))
    assert all("MiB of memory" in row.missing for cell in cells for row in cell.given)
