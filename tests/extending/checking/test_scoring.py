import math

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from gnomon.errors import GnomonError
from gnomon.extending.checking.opened import Opened
from gnomon.extending.checking.scoring import Text, losses
from gnomon.extending.checking.tokens import Tokens
from tests.helpers.byte_llama import byte_llama, letters

SAMPLE = letters("def first(items: list[int]) -> int:\n    return items[0] if items else -1\n")


def opened(module: nn.Module, kind: str = "causal", **around: object) -> Opened:
    return Opened("m", module, Tokens(letters, **around), None, kind)  # type: ignore[arg-type]


def scalar_loss(logits: list[float], target: int) -> float:
    """-ln softmax, one number at a time."""
    largest = max(logits)
    return largest + math.log(sum(math.exp(each - largest) for each in logits)) - logits[target]


@pytest.mark.parametrize("prefix", [(), (7, 9)])
def test_each_token_is_scored_by_the_tokens_before_it_in_the_row(prefix: tuple[int, ...]) -> None:
    model, row = byte_llama(), slice(5, 45)
    ids = [*prefix, *SAMPLE[row]]
    with torch.no_grad():
        logits = model(torch.tensor([ids])).logits[0].double().tolist()
    expected = [scalar_loss(logits[i - 1], ids[i]) if i else math.nan for i in range(len(prefix), len(ids))]
    found = losses(opened(model, prefix=prefix), Text.of(SAMPLE, 0), row)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_the_last_tokens_alone_have_the_losses_that_they_have_in_the_whole_row() -> None:
    text, model = Text.of(SAMPLE, 0), opened(byte_llama())
    whole, last = losses(model, text, slice(0, 60)), losses(model, text, slice(0, 60), last=9)
    assert np.isnan(last[:-9]).all()
    np.testing.assert_allclose(last[-9:], whole[-9:], rtol=1e-6)


def test_rows_end_at_the_end_of_the_text_and_do_not_overlap() -> None:
    text = Text.of(list(range(100)), 0)
    assert [(row.start, row.stop) for row in text.rows(30, 3)] == [(10, 40), (40, 70), (70, 100)]
    assert [text.rows(length, 1)[-1].stop for length in (7, 30, 99)] == [100, 100, 100]


class Neighbours(nn.Module):
    """Guesses a token by the two beside it, and by itself unless a mask hides it: it looks both ways."""

    def forward(self, input_ids: Tensor) -> Tensor:
        one_hot = nn.functional.one_hot(input_ids, 260).float()
        beside = nn.functional.pad(one_hot, (0, 0, 1, 1))
        return 3 * (beside[:, :-2] + beside[:, 2:]) + 2 * one_hot


def test_a_masked_model_is_scored_at_the_hidden_tokens_with_all_of_them_hidden() -> None:
    around = {"prefix": (256,), "suffix": (257,), "mask": 258}
    text, row = Text.of(SAMPLE, seed=3), slice(4, 64)
    ids = [258 if hidden else token for token, hidden in zip(SAMPLE[row], text.hidden[row], strict=True)]
    logits = Neighbours()(torch.tensor([[256, *ids, 257]]))[0].double().tolist()
    found = losses(opened(Neighbours(), "masked", **around), text, row)
    for place, hidden in enumerate(text.hidden[row]):
        if hidden:
            assert found[place] == pytest.approx(scalar_loss(logits[place + 1], SAMPLE[row][place]))
        else:
            assert math.isnan(found[place])
    assert 5 <= text.hidden[row].sum() <= 15


def test_the_same_tokens_are_hidden_whatever_the_row_and_the_seed_draws_them() -> None:
    one, same, other = (Text.of(SAMPLE, seed) for seed in (1, 1, 2))
    assert (one.hidden == same.hidden).all()
    assert (one.hidden != other.hidden).any()


def test_an_encoder_has_no_loss_and_a_masked_model_needs_a_mask() -> None:
    with pytest.raises(GnomonError, match="no loss"):
        losses(opened(Neighbours(), "encoder"), Text.of(SAMPLE, 0), slice(0, 9))
    with pytest.raises(GnomonError, match="no mask token"):
        losses(opened(Neighbours(), "masked"), Text.of(SAMPLE, 0), slice(0, 9))
