"""ALiBi: published slopes, its forms, what a causal softmax sees, and the slopes of other libraries."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor

from gnomon.encodings import ALiBi
from gnomon.encodings.alibi import Form, reference, reference_slope
from gnomon.errors import GnomonError
from tests.helpers.peers import x_transformers


def test_golden_slopes_of_eight_and_twelve_heads() -> None:
    eight = [0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625]
    assert list(ALiBi(8).slopes) == eight
    assert list(ALiBi(12).slopes) == pytest.approx([*eight, 0.707107, 0.353553, 0.176777, 0.088388], rel=1e-5)


@given(st.integers(1, 130))
def test_slopes_of_any_head_count_follow_the_published_rule(num_heads: int) -> None:
    slopes = ALiBi(num_heads).slopes
    assert len(slopes) == num_heads
    assert list(slopes) == pytest.approx([reference_slope(head, num_heads) for head in range(num_heads)])


@given(st.integers(1, 20), st.integers(0, 10**6), st.integers(0, 10**6))
def test_the_symmetric_form_equals_the_formula(num_heads: int, query: int, key: int) -> None:
    bias = ALiBi(num_heads).bias(torch.tensor([[query]]), torch.tensor([[key]]))
    assert bias.dtype == torch.float32
    expected = [reference(head, query, key, num_heads) for head in range(num_heads)]
    assert bias[0, :, 0, 0].tolist() == pytest.approx(expected)


def test_queries_are_rows_and_keys_are_columns() -> None:
    queries, keys = torch.tensor([[7, 3]]), torch.tensor([[1, 7, 4], [0, 2, 9]])
    for form, entry in (("symmetric", lambda i, j: -abs(i - j) / 2**8), ("causal", lambda i, j: j / 2**8)):
        bias = ALiBi(1, form=form).bias(queries, keys)  # type: ignore[arg-type]
        assert bias.shape == (2, 1, 2, 3)
        for row in range(2):
            assert bias[row, 0].tolist() == [[entry(i, j) for j in keys[row].tolist()] for i in (7, 3)]


def test_a_causal_softmax_cannot_tell_the_two_forms_apart() -> None:
    positions = torch.tensor([[0, 1, 2, 3, 4], [0, 0, 0, 1, 2]])
    future = (positions[:, None, :, None] < positions[:, None, None, :]).expand(-1, 6, -1, -1)
    logits = torch.randn(2, 6, 5, 5, generator=torch.Generator().manual_seed(0))
    symmetric, causal = (
        (logits + ALiBi(6, form=form).bias(positions, positions)).masked_fill(future, -torch.inf).softmax(-1)  # type: ignore[arg-type]
        for form in ("symmetric", "causal")
    )
    torch.testing.assert_close(causal, symmetric)


def test_the_causal_form_has_one_row_in_memory() -> None:
    positions = torch.arange(1000)[None]
    bias = ALiBi(4, form="causal").bias(positions, positions)
    assert bias.shape == (1, 4, 1000, 1000)
    assert bias.untyped_storage().nbytes() == 4 * 1000 * 4


def test_only_the_causal_form_needs_a_causal_mask() -> None:
    assert ALiBi(4, form="causal").causal_only
    assert not ALiBi(4).causal_only


def test_no_heads_or_an_unknown_form_is_an_error() -> None:
    with pytest.raises(GnomonError, match="at least 1 head, got num_heads=0"):
        ALiBi(0)


@pytest.mark.usefixtures("unchecked")
def test_an_unknown_form_is_an_error_that_lists_the_known() -> None:
    with pytest.raises(GnomonError, match="one of symmetric, causal, asymmetric, got 'bidirectional'"):
        ALiBi(4, form="bidirectional")  # type: ignore[arg-type]


def test_the_asymmetric_form_is_the_published_matrix() -> None:
    """From the README of EIFY/fairseq, in steps of the slope."""
    published = [
        [0, -0.5, -1.5, -2.5, -3.5],
        [-1, 0, -0.5, -1.5, -2.5],
        [-2, -1, 0, -0.5, -1.5],
        [-3, -2, -1, 0, -0.5],
        [-4, -3, -2, -1, 0],
    ]
    place = torch.arange(5)[None]
    bias = ALiBi(2, form="asymmetric").bias(place, place + torch.tensor([[0], [0]]))
    for head, slope in enumerate((2**-4, 2**-8)):
        assert (bias[1, head] / slope).tolist() == published


@pytest.mark.parametrize("form", ["symmetric", "causal", "asymmetric"])
def test_a_causal_softmax_sees_the_same_in_every_form(form: Form) -> None:
    place = torch.tensor([[0, 1, 2, 3, 9]])
    seen = torch.ones(5, 5, dtype=torch.bool).tril()

    def weights(encoding: ALiBi) -> torch.Tensor:
        return encoding.bias(place, place).masked_fill(~seen, -torch.inf).softmax(-1)

    torch.testing.assert_close(weights(ALiBi(6, form=form)), weights(ALiBi(6)))


@pytest.mark.parametrize("most", [8, 4, 16, 3])
@pytest.mark.parametrize("heads", [1, 4, 6, 12, 20])
def test_slopes_with_another_largest_exponent_are_those_of_mpt(heads: int, most: int) -> None:
    place = torch.arange(9)[None]
    theirs = build_mpt_alibi_tensor(heads, 9, alibi_bias_max=most)
    ours = ALiBi(heads, alibi_bias_max=most).bias(place[:, -1:], place)
    torch.testing.assert_close(ours[0], theirs, rtol=1e-6, atol=0)


@pytest.mark.parametrize("heads", [4, 6, 12])
def test_the_bias_is_that_of_x_transformers(heads: int) -> None:
    theirs = x_transformers().AlibiPositionalBias(heads)
    place = torch.arange(9)[None]
    torch.testing.assert_close(ALiBi(heads).bias(place[:, -4:], place)[0], theirs(4, 9), rtol=1e-6, atol=0)
    rows = torch.tensor([[0, 3, 4, 9], [2, 2, 7, 50]])
    torch.testing.assert_close(ALiBi(heads).bias(rows, rows), theirs.forward_custom_pos(rows), rtol=1e-6, atol=0)


@pytest.mark.parametrize("form", ["symmetric", "causal"])
@pytest.mark.parametrize(("queries", "keys"), [(9, 9), (1, 9), (4, 9)])
def test_flash_attention_gets_the_dense_bias_from_the_slopes(form: Form, queries: int, keys: int) -> None:
    """By the formula that it documents: -slope * |i + keys - queries - j|, for slots i and j, under a causal mask."""
    encoding = ALiBi(6, form=form, logit_scale=0.5)
    slopes = encoding.flash_slopes()
    assert (slopes.dtype, slopes.shape) == (torch.float32, (6,))
    i, j = torch.arange(queries)[:, None], torch.arange(keys)
    formula = -slopes[:, None, None] * (i + keys - queries - j).abs()
    place = torch.arange(keys) + torch.tensor([[0], [30]])  # a shift of a row changes nothing
    bias = encoding.bias(place[:, -queries:], place)
    seen = j <= i + keys - queries
    for row in range(2):
        ours, theirs = (part.masked_fill(~seen, -torch.inf).softmax(-1) for part in (bias[row], formula))
        torch.testing.assert_close(ours, theirs)
        if form == "symmetric":
            assert torch.equal(bias[row], formula)


def test_flash_attention_has_no_asymmetric_form() -> None:
    with pytest.raises(GnomonError, match="no asymmetric ALiBi; use score_mod"):
        ALiBi(2, form="asymmetric").flash_slopes()


@pytest.mark.parametrize("name", ["alibi_bias_max", "logit_scale"])
@pytest.mark.parametrize("value", [0.0, -1.0, float("inf"), float("nan")])
def test_impossible_sizes_of_slopes_are_errors(name: str, value: float) -> None:
    with pytest.raises(GnomonError, match=f"finite {name} above 0, got {value}"):
        ALiBi(2, **{name: value})  # type: ignore[arg-type]


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("form", ["symmetric", "causal", "asymmetric"])
def test_it_traces_into_one_graph(form: str) -> None:
    encoding, positions = ALiBi(3, form=form), torch.tensor([[2, 3, 9]])  # type: ignore[arg-type]
    traced = torch.compile(encoding.bias, fullgraph=True, backend="eager")(positions, positions)
    torch.testing.assert_close(traced, encoding.bias(positions, positions))


@pytest.mark.parametrize("form", ["symmetric", "causal", "asymmetric"])
def test_a_logit_scale_multiplies_every_slope(form: Form) -> None:
    scaled, plain = ALiBi(6, form=form, logit_scale=0.25), ALiBi(6, form=form)
    queries, keys = torch.tensor([[3, 9]]), torch.tensor([[0, 9, 4]])
    torch.testing.assert_close(scaled.bias(queries, keys), plain.bias(queries, keys) / 4, atol=0, rtol=1e-7)
    assert scaled.slopes == tuple(slope / 4 for slope in plain.slopes)


@pytest.mark.parametrize("scale", [0.0, -1.0, float("inf"), float("nan")])
def test_a_logit_scale_is_a_finite_number_above_0(scale: float) -> None:
    with pytest.raises(GnomonError, match="finite logit_scale above 0"):
        ALiBi(6, logit_scale=scale)
