import numpy as np
import pytest
import torch
from torch import Tensor, nn

from gnomon.errors import GnomonError
from gnomon.extending.checking.opened import Opened
from gnomon.extending.checking.passkeys import haystack, recalls
from gnomon.extending.checking.tokens import Tokens
from tests.helpers.byte_llama import letters

TOKENS = Tokens(letters, prefix=(1,))
FILLER = letters("Some words that hold no key at all, one after the other. " * 40)


class Copies(nn.Module):
    """Says what came after the longest earlier stretch that equals the end of the row so far."""

    def forward(self, ids: Tensor) -> Tensor:
        row = ids[0].numpy()
        logits = np.zeros((len(row), 256), dtype=np.float32)
        agree = np.zeros(len(row), dtype=np.int64)  # how far the row up to j agrees with the row up to i
        for i in range(1, len(row)):
            longer = np.where(row == row[i], np.concatenate(([0], agree[:-1])) + 1, 0)
            agree = np.where(np.arange(len(row)) < i, longer, 0)
            if agree.max() > 0:
                logits[i, row[int(agree.argmax()) + 1]] = 9.0
        return torch.from_numpy(logits)[None]


class Guesses(nn.Module):
    def forward(self, ids: Tensor) -> Tensor:
        return torch.randn(1, ids.shape[1], 256, generator=torch.Generator().manual_seed(0))


class SaysNothing(nn.Module):
    def forward(self, ids: Tensor) -> Tensor:
        return torch.zeros(1, ids.shape[1], 256)


def asked(module: nn.Module, length: int = 1500, keys: int = 4, seed: int = 0) -> tuple[list[bool], list[float]]:
    hay = haystack(TOKENS, FILLER, length, keys, seed)
    assert hay is not None
    found = recalls(Opened("m", module, TOKENS, None, "causal"), hay)
    return [each.found for each in found], [each.rank for each in found]


def test_a_model_that_copies_finds_every_key() -> None:
    found, ranks = asked(Copies())
    assert found == [True] * 4
    assert ranks == [1.0] * 4


def test_a_model_that_guesses_finds_none_and_ranks_keys_in_the_middle() -> None:
    found, ranks = asked(Guesses())
    assert found == [False] * 4
    assert 80 < np.mean(ranks) < 180


def test_a_model_that_says_nothing_finds_none() -> None:
    found, ranks = asked(SaysNothing())
    assert found == [False] * 4
    assert ranks == [256.0] * 4


def test_the_loss_and_the_rank_are_those_of_the_keys_own_tokens() -> None:
    hay = haystack(TOKENS, FILLER, 700, 2, seed=3)
    assert hay is not None
    logits = Guesses()(hay.ids[None])[0].double()
    for recall in recalls(Opened("m", Guesses(), TOKENS, None, "causal"), hay):
        places = range(hay.answers[recall.depth].start, hay.answers[recall.depth].stop)
        ranks = [sum(float(each) >= float(logits[at - 1, hay.ids[at]]) for each in logits[at - 1]) for at in places]
        nats = [float(logits[at - 1].logsumexp(0) - logits[at - 1, hay.ids[at]]) for at in places]
        assert recall.rank == pytest.approx(np.mean(ranks))
        assert recall.loss == pytest.approx(np.mean(nats))


@pytest.mark.parametrize(("length", "keys"), [(500, 1), (777, 3), (2001, 5)])
def test_a_row_has_its_length_its_keys_at_even_depths_and_its_questions_at_the_end(length: int, keys: int) -> None:
    hay = haystack(TOKENS, FILLER, length, keys, seed=1)
    assert hay is not None
    text = bytes(hay.ids[1:].tolist()).decode()
    assert (len(hay.ids), int(hay.ids[0]), text.count("The key of the")) == (length, 1, 2 * keys)
    assert list(hay.answers) == ([0.5] if keys == 1 else [n / (keys - 1) for n in range(keys)])
    for at in hay.answers.values():
        key = bytes(hay.ids[at].tolist()).decode()
        assert len(key.strip()) == 5
        assert text.count(key) == 2  # told once, asked for once


def test_the_seed_draws_keys_and_the_order_of_questions() -> None:
    one, same, other = (haystack(TOKENS, FILLER, 900, 5, seed) for seed in (0, 0, 1))
    assert one is not None
    assert same is not None
    assert other is not None
    assert torch.equal(one.ids, same.ids)
    assert not torch.equal(one.ids, other.ids)


def test_a_row_too_short_for_its_keys_is_none_and_too_many_keys_are_refused() -> None:
    assert haystack(TOKENS, FILLER, 100, 2, 0) is None
    assert haystack(TOKENS, FILLER[:50], 900, 2, 0) is None
    with pytest.raises(GnomonError, match="1 to 10 doors, got 11"):
        haystack(TOKENS, FILLER, 900, 11, 0)
