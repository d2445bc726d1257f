"""Rotary encoding: scores depend on differences, widths, and options."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gnomon.encodings import Rotary, build, from_json
from gnomon.encodings.frequencies import Custom, Linear, Plain, YaRN
from gnomon.encodings.rotary import reference
from gnomon.errors import GnomonError, ShapeError


def random(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0))


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.sampled_from(["half", "interleaved"]))
def test_equals_the_formula_to_float64_in_float64(row: int, other: int, layout: str) -> None:
    encoding = Rotary(10, rotary_dim=6, layout=layout)  # type: ignore[arg-type]
    x = random(2, 1, 1, 10).double()
    turned = encoding.rotate_query(x, torch.tensor([[row], [other]]))
    inverse = [10000 ** (-i / 3) for i in range(3)]
    for at, position in enumerate((row, other)):
        assert turned[at, 0, 0].tolist() == pytest.approx(
            reference(x[at, 0, 0].tolist(), position, inverse, layout), abs=1e-9
        )


@given(st.integers(-1000, 1000), st.integers(0, 5000), st.integers(0, 5000))
def test_scores_depend_on_the_difference_only(shift: int, m: int, n: int) -> None:
    encoding, q, k = Rotary(16), random(1, 1, 1, 16), random(1, 1, 1, 16).flip(-1)

    def score(query: int, key: int) -> float:
        turned = encoding.rotate_query(q, torch.tensor([[query]])) * encoding.rotate_key(k, torch.tensor([[key]]))
        return float(turned.sum().item())

    assert score(m + 1000 + shift, n + 1000 + shift) == pytest.approx(score(m, n), abs=2e-5)


def test_position_zero_changes_nothing() -> None:
    x = random(2, 3, 4, 8)
    assert torch.equal(Rotary(8).rotate_query(x, torch.zeros(1, 4, dtype=torch.int64)), x)


def test_the_columns_past_the_rotated_width_pass_through() -> None:
    x = random(2, 3, 4, 9)
    turned = Rotary(9, rotary_dim=4).rotate_key(x, torch.arange(1, 5)[None])
    assert torch.equal(turned[..., 4:], x[..., 4:])
    assert (turned[..., :4] != x[..., :4]).all()


def test_the_attention_factor_multiplies_what_turns() -> None:
    x, positions = random(1, 2, 3, 6), torch.tensor([[2, 5, 9]])
    plain = Rotary(6, rotary_dim=4).rotate_query(x, positions)
    twice = Custom(Plain().inverse(4).tolist(), attention_factor=2.0)
    doubled = Rotary(6, rotary_dim=4, frequencies=twice).rotate_query(x, positions)
    torch.testing.assert_close(doubled[..., :4], 2 * plain[..., :4])
    assert torch.equal(doubled[..., 4:], plain[..., 4:])


def test_lengths_are_kept_without_an_attention_factor_only_and_each_instance_says_so() -> None:
    x, positions = random(1, 2, 3, 8), torch.tensor([[2, 5, 9]])
    for frequencies, kept in ((YaRN(4.0, 64), False), (YaRN(4.0, 64, attention_factor=1.0), True), (Linear(4.0), True)):
        encoding = Rotary(8, frequencies=frequencies)
        longer = encoding.rotate_query(x, positions).norm(dim=-1) / x.norm(dim=-1)
        assert longer.flatten().tolist() == pytest.approx([encoding.attention_factor] * 6, rel=1e-5)
        assert encoding.norm_preserving is kept is (encoding.attention_factor == 1.0)
    assert Rotary(8).norm_preserving


def test_an_odd_width_suggests_partial_rotary() -> None:
    with pytest.raises(GnomonError, match="must be even, got 9; use partial rotary: rotary_dim=8 turns 8 of the 9"):
        Rotary(9)
    Rotary(9, rotary_dim=8)


@pytest.mark.parametrize(("head_dim", "rotary_dim"), [(8, 10), (8, 0), (8, -2), (0, None)])
def test_a_width_that_does_not_fit_is_an_error(head_dim: int, rotary_dim: int | None) -> None:
    with pytest.raises(GnomonError, match=f"between 2 and the head width {head_dim}"):
        Rotary(head_dim, rotary_dim=rotary_dim)


def test_another_head_width_is_an_error_that_names_both() -> None:
    with pytest.raises(ShapeError, match="The heads are 8 wide but the rotary encoding is for 16"):
        Rotary(16).rotate_query(random(1, 1, 2, 8), torch.arange(2)[None])


@pytest.mark.usefixtures("unchecked")
def test_an_unknown_layout_is_an_error_that_lists_the_known() -> None:
    with pytest.raises(GnomonError, match="one of half, interleaved, got 'neox'"):
        Rotary(8, layout="neox")  # type: ignore[arg-type]


def test_the_dict_form_of_frequencies_builds_the_same_encoding() -> None:
    by_dict = Rotary(8, frequencies={"kind": "linear", "factor": 2, "base": 500})
    by_object = Rotary(8, frequencies=Linear(2.0, 500.0))
    assert by_dict.options == by_object.options
    again = from_json(by_dict.to_json())
    assert isinstance(again, Rotary)
    assert again.frequencies == Linear(2.0, 500.0)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("layout", ["half", "interleaved"])
def test_it_traces_into_one_graph(layout: str) -> None:
    encoding = Rotary(8, layout=layout)  # type: ignore[arg-type]
    x, positions = random(2, 3, 4, 8), torch.arange(4)[None] + 3
    traced = torch.compile(encoding.rotate_query, fullgraph=True, backend="eager")(x, positions)
    torch.testing.assert_close(traced, encoding.rotate_query(x, positions))


@pytest.mark.usefixtures("unchecked")
def test_frequencies_that_are_no_rule_are_refused() -> None:
    with pytest.raises(GnomonError, match=r"Frequencies are a rule such as Plain\(10000.0\) or .*, got 'linear'"):
        build("rotary", head_dim=8, frequencies="linear")
