"""The encoder: bidirectional, and blind to order exactly when its encoding says nothing about it."""

import functools

import pytest
import torch

from gnomon.encodings import ALiBi, NoPE, PositionEncoding, T5Bias
from gnomon.errors import GnomonError
from gnomon.models import Encoder
from tests.helpers.models import BIDIRECTIONAL, HEADS, NAMES, VOCABULARY, encoder, options, sample
from tests.helpers.weights import token_ids

LENGTH = 9
IDS = token_ids(2, LENGTH, vocabulary=VOCABULARY)
ORDER = torch.randperm(LENGTH, generator=torch.Generator().manual_seed(3))
assert_close = functools.partial(torch.testing.assert_close, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", BIDIRECTIONAL)
def test_permuting_tokens_permutes_the_output_exactly_without_positions(name: str) -> None:
    encoding = sample(name)
    model = encoder(encoding)
    difference = (model(IDS[:, ORDER]) - model(IDS)[:, ORDER]).abs().max()
    assert difference < 1e-5 if not encoding.uses_position else difference > 1e-2


@pytest.mark.parametrize("name", BIDIRECTIONAL)
def test_tokens_that_move_with_their_positions_keep_their_output(name: str) -> None:
    model, place = encoder(sample(name)), torch.arange(LENGTH)[None]
    assert_close(model(IDS[:, ORDER], positions=place[:, ORDER]), model(IDS)[:, ORDER])


@pytest.mark.parametrize("name", BIDIRECTIONAL)
def test_every_token_sees_every_other(name: str) -> None:
    model, changed = encoder(sample(name)), IDS.clone()
    changed[:, 5] = (changed[:, 5] + 1) % VOCABULARY
    assert (model(changed) - model(IDS)).abs().amax(-1).min() > 1e-4


@pytest.mark.parametrize("name", BIDIRECTIONAL)
@pytest.mark.parametrize("side", ["left", "right"])
def test_padding_on_either_side_changes_no_real_token(name: str, side: str) -> None:
    model = encoder(sample(name))
    kept = slice(3, LENGTH) if side == "left" else slice(0, LENGTH - 3)
    mask = torch.ones(2, LENGTH, dtype=torch.int64)
    mask[0] = 0
    mask[0, kept] = 1
    padded = model(IDS, attention_mask=mask)
    assert_close(padded[:1, kept], model(IDS[:1, kept]))
    assert_close(padded[1:], model(IDS[1:]))


@pytest.mark.parametrize("name", BIDIRECTIONAL)
def test_packed_documents_give_what_they_give_alone(name: str) -> None:
    model, documents = encoder(sample(name)), torch.tensor([[7] * 4 + [3] * 5]).expand(2, -1)
    alone = [model(IDS[:, part]) for part in (slice(0, 4), slice(4, LENGTH))]
    assert_close(model(IDS, documents=documents), torch.cat(alone, dim=1))


CAUSAL_ONLY = [
    ALiBi(HEADS, form="causal"),
    T5Bias(HEADS, direction="causal"),
    *(sample(name) for name in NAMES if name not in BIDIRECTIONAL),
]


@pytest.mark.parametrize("encoding", CAUSAL_ONLY, ids=lambda encoding: type(encoding).__name__)
def test_an_encoding_for_causal_masks_is_refused(encoding: PositionEncoding) -> None:
    with pytest.raises(GnomonError, match="causal mask only"):
        Encoder(options(), encoding=encoding)


def test_an_encoding_without_positions_is_taken() -> None:
    assert Encoder(options(), encoding=NoPE()).encoding.uses_position is False
