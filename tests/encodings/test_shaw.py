"""Shaw's relative positions: numbers by hand, Wav2Vec2Bert and SeamlessM4Tv2 of transformers, gradients."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from transformers import SeamlessM4Tv2Config, Wav2Vec2BertConfig
from transformers.models.seamless_m4t_v2.modeling_seamless_m4t_v2 import SeamlessM4Tv2ConformerSelfAttention
from transformers.models.wav2vec2_bert.modeling_wav2vec2_bert import (
    Wav2Vec2BertSelfAttention,
    _apply_relative_key_position_encoding,
)

from gnomon.attention import Attention, AttentionMask
from gnomon.encodings import Shaw
from gnomon.errors import GnomonError, PositionError, ShapeError
from gnomon.testing import Reference
from tests.helpers.case import Case
from tests.helpers.content import (
    ContentNegated,
    ContentUnscaled,
    DistancesFromKeys,
    KeysForQueries,
    content_formula,
    slopes,
)
from tests.helpers.mutated_encodings import AnyDtype, BatchAxis, FalselyRelative, FrozenTable, IgnoresIds, Wrapped
from tests.helpers.weights import normal, redraw

SYMMETRIC, LOPSIDED, OWN = "shaw-5", "shaw-7-2", "shaw-3-own-heads"


def drawn(heads: int = 3, width: int = 8, **options: Any) -> Shaw:
    encoding = Shaw(heads, width, **options)
    redraw(encoding, std=0.7)
    return encoding


def cases() -> Iterator[Case]:
    option_sets: dict[str, dict[str, Any]] = {
        SYMMETRIC: {"max_distance": 5},
        LOPSIDED: {"max_distance": (7, 2)},
        OWN: {"max_distance": 3, "shared_heads": False},
        "shaw-past-only": {"max_distance": (40, 0)},
    }
    for name, options in option_sets.items():
        made = drawn(**options)
        yield Case(name, made, Reference(content_bias=content_formula(made)))


def mutations() -> list[tuple[type[Wrapped], str, set[str]]]:
    return [
        (ContentNegated, SYMMETRIC, set()),
        (ContentUnscaled, LOPSIDED, set()),
        (DistancesFromKeys, SYMMETRIC, set()),
        (DistancesFromKeys, LOPSIDED, set()),
        (KeysForQueries, OWN, set()),
        (FrozenTable, OWN, {"gradients"}),
        (FalselyRelative, LOPSIDED, {"shift_invariance"}),
        (IgnoresIds, SYMMETRIC, {"uses_position", "one_token_at_a_time", "permutation_of_tokens"}),
        (BatchAxis, SYMMETRIC, {"uses_position"}),
        (AnyDtype, SYMMETRIC, {"int64_ids"}),
    ]


def test_each_distance_reads_its_row_and_far_ones_the_last() -> None:
    """One query of ones: the logit is the sum of the row over sqrt(4) = 2; row r holds r + 1."""
    encoding = Shaw(1, 4, max_distance=(2, 1))
    with torch.no_grad():
        encoding.weight.copy_(torch.arange(1.0, 5.0)[:, None].expand(4, 4))
    keys = torch.tensor([[0, 7, 8, 9, 10, 11, 99]])
    bias = encoding.content_bias(torch.ones(1, 1, 1, 4), torch.zeros(1, 1, 7, 4), torch.tensor([[9]]), keys)
    assert bias[0, 0, 0].tolist() == [2.0, 2.0, 4.0, 6.0, 8.0, 8.0, 8.0]


def test_each_head_reads_its_own_table_if_it_has_one() -> None:
    own, place = drawn(shared_heads=False, max_distance=2), torch.arange(5)[None]
    q, k = normal(2, 3, 5, 8), normal(2, 3, 5, 8)
    got = own.content_bias(q, k, place, place)
    for head in range(3):
        one = Shaw(1, 8, max_distance=2)
        one.load_state_dict({"weight": own.weight[head]})
        torch.testing.assert_close(got[:, [head]], one.content_bias(q[:, [head]], k[:, [head]], place, place))


def wav2vec2_bert(left: int, right: int) -> Wav2Vec2BertSelfAttention:
    config = Wav2Vec2BertConfig(
        hidden_size=24,
        num_attention_heads=3,
        left_max_position_embeddings=left,
        right_max_position_embeddings=right,
        attention_dropout=0.0,
        attn_implementation="eager",
    )
    theirs = Wav2Vec2BertSelfAttention(config).eval()
    redraw(theirs, std=0.3)
    return theirs


@pytest.mark.parametrize(("left", "right"), [(64, 8), (3, 1), (2, 5)])
def test_a_table_from_a_checkpoint_gives_the_bias_of_wav2vec2_bert(left: int, right: int) -> None:
    theirs = wav2vec2_bert(left, right)
    ours = Shaw(3, 8, max_distance=(left, right))
    ours.load_state_dict(theirs.distance_embedding.state_dict())
    q, k = normal(2, 3, 11, 8), normal(2, 3, 11, 8, seed=2)
    place = 40 + torch.arange(11)[None]
    _, bias = _apply_relative_key_position_encoding(theirs, q, k)
    torch.testing.assert_close(ours.content_bias(q, k, place, place), bias, rtol=0, atol=1e-5)


@pytest.mark.parametrize("family", ["wav2vec2_bert", "seamless_m4t_v2"])
def test_our_attention_is_that_of_transformers_with_padding(family: str) -> None:
    if family == "wav2vec2_bert":
        theirs = wav2vec2_bert(3, 2)
    else:
        config = SeamlessM4Tv2Config(
            hidden_size=24,
            speech_encoder_attention_heads=3,
            position_embeddings_type="relative_key",
            left_max_position_embeddings=3,
            right_max_position_embeddings=2,
            speech_encoder_dropout=0.0,
        )
        theirs = SeamlessM4Tv2ConformerSelfAttention(config).eval()
        redraw(theirs, std=0.3)
    ours = Attention(24, num_heads=3, encoding=Shaw(3, 8, max_distance=(3, 2)), causal=False)
    names = {"query": "linear_q", "key": "linear_k", "value": "linear_v", "output": "linear_out"}
    for mine, name in names.items():
        ours.get_submodule(mine).load_state_dict(theirs.get_submodule(name).state_dict())
    ours.encoding.load_state_dict(theirs.distance_embedding.state_dict())
    x, real = normal(2, 7, 24), torch.tensor([[1] * 7, [1, 1, 1, 1, 0, 0, 0]])
    hidden = (1.0 - real[:, None, None, :]) * torch.finfo(torch.float32).min
    want = theirs(x, attention_mask=hidden)[0]
    got = ours(x, torch.arange(7)[None], AttentionMask.of(real))
    torch.testing.assert_close(got[real == 1], want[real == 1], rtol=0, atol=1e-5)


def test_gradients_are_the_slopes_of_the_formula() -> None:
    encoding, place = drawn(2, 3, max_distance=(2, 1), shared_heads=False).double(), torch.tensor([[0, 1, 3, 4]])
    q, k, weights = (normal(1, 2, 4, n, seed=n).double() for n in (3, 3, 4))
    (encoding.content_bias(q, k, place, place) * weights).sum().backward()
    formula, at = content_formula(encoding), place[0].tolist()

    def total() -> float:
        rows = [formula(head, q[0, head].tolist(), k[0, head].tolist(), at, at) for head in range(2)]
        return (torch.tensor(rows, dtype=torch.float64) * weights[0]).sum().item()

    assert encoding.weight.grad is not None
    indices = list(range(encoding.weight.numel()))
    assert encoding.weight.grad.view(-1).tolist() == pytest.approx(slopes(encoding.weight, total, indices), abs=1e-7)


def test_a_fresh_table_has_the_stated_spread() -> None:
    torch.manual_seed(0)
    assert Shaw(1, 256, max_distance=64).weight.std().item() == pytest.approx(0.02, rel=0.02)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"num_heads": 0}, "got num_heads=0, head_dim=8"),
        ({"max_distance": 0}, "one is at least 1, got .* max_distance=0"),
        ({"max_distance": (-1, 3)}, r"max_distance=\(-1, 3\)"),
        ({"max_distance": (1, 2, 3)}, r"one number or two, before and after the query, got \(1, 2, 3\)"),
    ],
)
def test_impossible_options_are_errors(options: dict[str, Any], said: str) -> None:
    with pytest.raises(GnomonError, match=said):
        Shaw(**{"num_heads": 2, "head_dim": 8, **options})


@pytest.mark.usefixtures("unchecked")
def test_heads_of_another_number_or_width_and_other_ids_are_errors() -> None:
    encoding, q, place = Shaw(3, 8), normal(1, 3, 2, 8), torch.arange(2)[None]
    with pytest.raises(ShapeError, match="for 3 heads of width 8, the queries have 2 of width 8"):
        encoding.content_bias(q[:, :2], q[:, :2], place, place)
    with pytest.raises(ShapeError, match="the keys have 1 of width 8"):
        encoding.content_bias(q, q[:, :1], place, place)
    with pytest.raises(PositionError, match="int64, got torch"):
        encoding.content_bias(q, q, place, place.int())


@pytest.mark.usefixtures("unchecked")
def test_it_traces_into_one_graph() -> None:
    encoding, q, place = drawn(), normal(2, 3, 4, 8), torch.tensor([[2, 3, 90, 91]])
    traced = torch.compile(encoding.content_bias, fullgraph=True, backend="eager")
    torch.testing.assert_close(traced(q, q, place, place), encoding.content_bias(q, q, place, place))
