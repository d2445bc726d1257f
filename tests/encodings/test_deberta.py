"""Disentangled attention: rows of distances, DeBERTa of transformers in all its versions, gradients, bad options."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from transformers import DebertaConfig, DebertaV2Config
from transformers.models.deberta import modeling_deberta as v1
from transformers.models.deberta_v2 import modeling_deberta_v2 as v2

from gnomon.attention import Attention, AttentionMask
from gnomon.encodings import DeBERTa
from gnomon.encodings.deberta import reference_row
from gnomon.errors import GnomonError, ShapeError
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
from tests.helpers.mutated_encodings import AnyDtype, FalselyRelative, FrozenTable, IgnoresIds, Wrapped
from tests.helpers.weights import normal, redraw

PLAIN, LOG, ONE_TERM = "deberta-6", "deberta-8-20", "deberta-p2c"
HEADS, WIDTH, DIM, LENGTH = 2, 6, 12, 9


def drawn(**options: Any) -> DeBERTa:
    encoding = DeBERTa(HEADS, WIDTH, dim=DIM, **options)
    redraw(encoding, std=0.4)
    return encoding


def cases() -> Iterator[Case]:
    option_sets: dict[str, dict[str, Any]] = {
        PLAIN: {"max_distance": 6},
        LOG: {"max_distance": 20, "buckets": 8, "norm_eps": 1e-3},
        ONE_TERM: {"max_distance": 6, "terms": ["p2c"]},
        "deberta-c2p": {"max_distance": 400, "buckets": 16, "terms": ["c2p"]},
    }
    for name, options in option_sets.items():
        made = drawn(**options)
        yield Case(name, made, Reference(content_bias=content_formula(made)))


def mutations() -> list[tuple[type[Wrapped], str, set[str]]]:
    return [
        (ContentNegated, PLAIN, set()),
        (ContentUnscaled, LOG, set()),
        (DistancesFromKeys, PLAIN, set()),
        (DistancesFromKeys, LOG, set()),
        (KeysForQueries, ONE_TERM, set()),
        (FrozenTable, LOG, {"gradients"}),
        (FalselyRelative, PLAIN, {"shift_invariance"}),
        (IgnoresIds, LOG, {"uses_position", "one_token_at_a_time", "permutation_of_tokens"}),
        (AnyDtype, PLAIN, {"int64_ids"}),
    ]


@pytest.mark.parametrize("buckets", [None, 8])
def test_rows_by_hand(buckets: int | None) -> None:
    """Without buckets -6 .. 5 have a row. With 8 of them up to 20: 5 and 6 share one, 7 .. 11 the next, 12 .. 19."""
    encoding = DeBERTa(1, 2, dim=2, max_distance=6 if buckets is None else 20, buckets=buckets)
    offsets = [-99, -20, -19, -6, -5, -4, 0, 4, 5, 6, 7, 11, 12, 99]
    rows = encoding.rows(torch.tensor([offsets]) + 99, torch.tensor([[99]]))[0, :, 0].tolist()
    expected = [0, 0, 0, 0, 1, 2, 6, 10, 11, 11, 11, 11, 11, 11]
    assert rows == (expected if buckets is None else [0, 0, 1, 3, 3, 4, 8, 12, 13, 13, 14, 14, 15, 15])


@pytest.mark.parametrize(("buckets", "most"), [(256, 512), (256, 1024), (32, 128), (8, 20), (4, 4), (64, 2048)])
def test_log_rows_are_those_of_transformers_and_of_the_formula(buckets: int, most: int) -> None:
    distance = torch.arange(-3 * most, 3 * most)
    encoding = DeBERTa(1, 2, dim=2, max_distance=most, buckets=buckets)
    ours = encoding.rows(distance[None] + 3 * most, torch.tensor([[3 * most]]))[0, :, 0]
    assert ours.tolist() == [reference_row(d, max_distance=most, buckets=buckets) for d in distance.tolist()]
    theirs = v2.make_log_bucket_position(distance, buckets, most).long() + buckets
    assert torch.equal(ours, theirs.clamp(0, 2 * buckets - 1))


class Recorded:
    """The logits that transformers' attention gives its softmax."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.logits: list[Tensor] = []
        softmax = nn.functional.softmax

        def spy(logits: Tensor, dim: int) -> Tensor:
            self.logits.append(logits)
            return softmax(logits, dim=dim)

        patch.setattr("torch.nn.functional.softmax", spy)


OPTIONS: dict[str, Any] = {
    "vocab_size": 30,
    "hidden_size": DIM,
    "num_hidden_layers": 2,
    "num_attention_heads": HEADS,
    "intermediate_size": 16,
    "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
    "relative_attention": True,
    "position_biased_input": False,
    "type_vocab_size": 0,
}
REAL = torch.tensor([[1] * LENGTH, [1] * 6 + [0] * 3])


def ours_of_version_2(attention: Any, table: Tensor, encoder: Any, terms: list[str], options: dict[str, Any]) -> Any:
    """Our attention with the weights of theirs, and the encoding's projections tied or copied."""
    shared = options.get("share_att_key", False)
    normed = options.get("norm_rel_ebd") == "layer_norm"
    encoding = DeBERTa(
        HEADS,
        WIDTH,
        dim=DIM,
        max_distance=options["max_relative_positions"],
        buckets=options.get("position_buckets"),
        terms=terms,  # type: ignore[arg-type]
        norm_eps=encoder.LayerNorm.eps if normed else None,
    )
    layer = Attention(DIM, num_heads=HEADS, encoding=encoding, causal=False, scale=encoding.scale)
    for mine, name in {"query": "query_proj", "key": "key_proj", "value": "value_proj"}.items():
        layer.get_submodule(mine).load_state_dict(attention.get_submodule(name).state_dict())
    with torch.no_grad():
        encoding.weight.copy_(table)
    if encoding.norm is not None:
        encoding.norm.load_state_dict(encoder.LayerNorm.state_dict())
    for term, mine, theirs, tied in (
        ("c2p", "position_key", "pos_key_proj", layer.key),
        ("p2c", "position_query", "pos_query_proj", layer.query),
    ):
        if term in terms and shared:
            setattr(encoding, mine, tied)
        elif term in terms:
            encoding.get_submodule(mine).load_state_dict(attention.get_submodule(theirs).state_dict())
    return layer


@pytest.mark.parametrize("terms", [["c2p", "p2c"], ["c2p"], ["p2c"]])
@pytest.mark.parametrize(
    "options",
    [
        {"max_relative_positions": 20, "position_buckets": 8, "share_att_key": True, "norm_rel_ebd": "layer_norm"},
        {"max_relative_positions": 20, "position_buckets": 8},
        {"max_relative_positions": 4},
        {"max_relative_positions": 40},
    ],
    ids=["version 3", "own projections", "clipped", "longer than the sequence"],
)
def test_logits_and_outputs_are_those_of_deberta_v2_with_padding(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], terms: list[str]
) -> None:
    model = v2.DebertaV2Model(DebertaV2Config(**OPTIONS, **options, pos_att_type=terms)).eval()
    redraw(model, std=0.3)
    with torch.no_grad():
        if "norm_rel_ebd" in options:
            model.encoder.LayerNorm.weight.copy_(normal(DIM))
            model.encoder.LayerNorm.bias.copy_(normal(DIM, seed=2))
    attention, x = model.encoder.layer[0].attention.self, normal(2, LENGTH, DIM)
    seen, recorded = REAL[:, None, None, :] * REAL[:, None, :, None], Recorded(monkeypatch)
    relative = model.encoder.get_rel_pos(x)
    want, _ = attention(x, seen, relative_pos=relative, rel_embeddings=model.encoder.get_rel_embedding())

    layer, place = (
        ours_of_version_2(attention, model.encoder.rel_embeddings.weight, model.encoder, terms, options),
        None,
    )
    place = 17 + torch.arange(LENGTH)[None]
    q, k = (project(x).view(2, LENGTH, HEADS, WIDTH).transpose(1, 2) for project in (layer.query, layer.key))
    logits = layer.scale * q @ k.mT + layer.encoding.content_bias(q, k, place, place)
    pairs = seen.bool().expand_as(logits)
    torch.testing.assert_close(logits[pairs], recorded.logits[0][pairs], rtol=0, atol=1e-5)

    with torch.no_grad():  # theirs ends before the output projection
        layer.output.weight.copy_(torch.eye(DIM))
        layer.output.bias.zero_()
    got = layer(x, place, AttentionMask.of(REAL))
    torch.testing.assert_close(got[REAL == 1], want[REAL == 1], rtol=0, atol=1e-5)


@pytest.mark.parametrize("terms", [["c2p", "p2c"], ["c2p"], ["p2c"]])
@pytest.mark.parametrize("most", [4, 40])
def test_logits_are_those_of_deberta_version_1(monkeypatch: pytest.MonkeyPatch, most: int, terms: list[str]) -> None:
    """Version 1 has no buckets, no bias of the position keys, and q, k, v interleaved in one map by heads."""
    config = DebertaConfig(**OPTIONS, max_relative_positions=most, pos_att_type=terms)
    model = v1.DebertaModel(config).eval()
    redraw(model, std=0.3)
    theirs, x = model.encoder.layer[0].attention.self, normal(2, LENGTH, DIM)
    seen, recorded = REAL[:, None, None, :] * REAL[:, None, :, None], Recorded(monkeypatch)
    table = model.encoder.get_rel_embedding()
    theirs(x, seen, relative_pos=model.encoder.get_rel_pos(x), rel_embeddings=table)

    ours, place = DeBERTa(HEADS, WIDTH, dim=DIM, max_distance=most, terms=terms), torch.arange(LENGTH)[None]  # type: ignore[arg-type]
    with torch.no_grad():
        ours.weight.copy_(table)
        if ours.position_key is not None:
            ours.position_key.weight.copy_(theirs.pos_proj.weight)
            ours.position_key.bias.zero_()
        if ours.position_query is not None:
            ours.position_query.load_state_dict(theirs.pos_q_proj.state_dict())
    q, k, _ = theirs.transpose_for_scores(theirs.in_proj(x)).chunk(3, dim=-1)
    q = q + theirs.transpose_for_scores(theirs.q_bias[None, None, :])
    logits = ours.scale * q @ k.mT + ours.content_bias(q, k, place, place)
    pairs = seen.bool().expand_as(logits)
    torch.testing.assert_close(logits[pairs], recorded.logits[0][pairs], rtol=0, atol=1e-5)


def test_a_bias_of_the_position_keys_moves_no_attention() -> None:
    """It adds one number to all keys of a query, so version 1 loses nothing by having none."""
    encoding, place = drawn(max_distance=5, terms=["c2p"]), torch.arange(LENGTH)[None]
    q, k = normal(2, HEADS, LENGTH, WIDTH), normal(2, HEADS, LENGTH, WIDTH, seed=2)
    before = encoding.content_bias(q, k, place, place).softmax(-1)
    assert encoding.position_key is not None
    nn.init.constant_(encoding.position_key.bias, 3.0)
    torch.testing.assert_close(encoding.content_bias(q, k, place, place).softmax(-1), before)


def test_one_table_can_serve_two_layers_and_gets_both_gradients() -> None:
    first, second = (drawn(max_distance=5, norm_eps=1e-3) for _ in range(2))
    q, place = normal(1, HEADS, 4, WIDTH), torch.arange(4)[None]
    apart = []
    for encoding in (first, second):
        encoding.content_bias(q, q, place, place).square().sum().backward()
        assert encoding.weight.grad is not None
        apart.append(encoding.weight.grad.clone())
    first.zero_grad()
    second.weight, second.norm = first.weight, first.norm
    for encoding in (first, second):
        encoding.content_bias(q, q, place, place).square().sum().backward()
    torch.testing.assert_close(first.weight.grad, apart[0] + apart[1])


@pytest.mark.parametrize("buckets", [None, 4])
def test_gradients_are_the_slopes_of_the_formula(buckets: int | None) -> None:
    encoding = DeBERTa(2, 3, dim=4, max_distance=5, buckets=buckets, norm_eps=0.1).double()
    redraw(encoding, std=0.5)
    place = torch.tensor([[0, 1, 3, 6]])
    q, k, weights = (normal(1, 2, 4, n, seed=s).double() for n, s in ((3, 1), (3, 2), (4, 3)))
    (encoding.content_bias(q, k, place, place) * weights).sum().backward()
    formula, at = content_formula(encoding), place[0].tolist()

    def total() -> float:
        rows = [formula(head, q[0, head].tolist(), k[0, head].tolist(), at, at) for head in range(2)]
        return (torch.tensor(rows, dtype=torch.float64) * weights[0]).sum().item()

    for name, parameter in encoding.named_parameters():
        assert parameter.grad is not None
        indices = list(range(0, parameter.numel(), 3))
        got = parameter.grad.view(-1)[indices].tolist()
        assert got == pytest.approx(slopes(parameter, total, indices), abs=1e-7), name


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"max_distance": 0}, "at least 1, got 2, 6, 12 and 0"),
        ({"terms": []}, r"one or both of c2p, p2c, got \[\]"),
        ({"terms": ["p2p"]}, "got .*p2p"),
        ({"buckets": 5}, "got buckets=5, max_distance=512"),
        ({"buckets": 2}, "at least 4"),
        ({"buckets": 32, "max_distance": 17}, "buckets=32, max_distance=17"),
    ],
)
def test_impossible_options_are_errors(options: dict[str, Any], said: str) -> None:
    with pytest.raises(GnomonError, match=said):
        DeBERTa(HEADS, WIDTH, **{"dim": DIM, **options})


def test_heads_of_another_width_are_errors() -> None:
    q, place = normal(1, HEADS, 2, WIDTH + 1), torch.arange(2)[None]
    with pytest.raises(ShapeError, match="for 2 heads of width 6, the queries have 2 of width 7"):
        drawn().content_bias(q, q, place, place)


@pytest.mark.usefixtures("unchecked")
def test_it_traces_into_one_graph() -> None:
    encoding, q, place = drawn(max_distance=20, buckets=8), normal(2, HEADS, 4, WIDTH), torch.tensor([[2, 3, 90, 91]])
    traced = torch.compile(encoding.content_bias, fullgraph=True, backend="eager")
    torch.testing.assert_close(traced(q, q, place, place), encoding.content_bias(q, q, place, place))
