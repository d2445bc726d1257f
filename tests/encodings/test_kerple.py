"""KERPLE: both forms against numbers worked out by hand, the bounds of its parameters, and their gradients."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gnomon.encodings import KERPLE, ALiBi
from gnomon.encodings.kerple import Form, reference
from gnomon.errors import GnomonError

FORMS: tuple[Form, ...] = ("log", "power")
QUERY, KEYS = torch.tensor([[1000]]), torch.tensor([[1000, 999, 996, 872, 0]])  # distances 0, 1, 4, 128, 1000


def with_values(form: Form, p: list[float], a: list[float]) -> KERPLE:
    encoding = KERPLE(len(p), form=form)
    encoding.load_state_dict({"p": torch.tensor(p), "a": torch.tensor(a)})
    return encoding


@pytest.mark.parametrize(
    ("form", "p", "a", "expected"),
    [
        ("log", 1.0, 0.5, [0.0, -0.405465, -1.098612, -4.174387, -6.216606]),  # ln 1.5, ln 3, ln 65, ln 501
        ("log", 2.0, 1.0, [0.0, -1.386294, -3.218876, -9.719625, -13.817510]),  # 2 ln 2, 2 ln 5, 2 ln 129, 2 ln 1001
        ("log", 3.0, 1.0, [0.0, -2.079442, -4.828314, -14.579437, -20.726265]),  # the p of a logarithm may exceed 2
        ("power", 0.5, 0.25, [0.0, -0.25, -0.5, -2.828427, -7.905694]),
        ("power", 2.0, 0.125, [0.0, -0.125, -2.0, -2048.0, -125000.0]),
    ],
)
def test_golden_biases(form: Form, p: float, a: float, expected: list[float]) -> None:
    bias = with_values(form, [p], [a]).bias(QUERY, KEYS)
    assert bias.dtype == torch.float32
    assert bias[0, 0, 0].tolist() == pytest.approx(expected, rel=1e-6)


@given(
    st.sampled_from(FORMS),
    st.floats(-1, 3, width=32),
    st.floats(-1, 2, width=32),
    st.integers(0, 5000),
    st.integers(0, 5000),
)
def test_any_parameters_at_any_distance_equal_the_formula(form: Form, p: float, a: float, query: int, key: int) -> None:
    bias = with_values(form, [p], [a]).bias(torch.tensor([[query]]), torch.tensor([[key]]))
    assert bias.item() == pytest.approx(reference(query, key, p=p, a=a, form=form), rel=2e-6)


@pytest.mark.parametrize(
    ("form", "given", "meant"),
    [
        ("log", ([-3.0, 0.005, 0.5, 7.0], [0.5, 0.5, -2.0, 0.0]), ([0.01, 0.01, 0.5, 7.0], [0.5, 0.5, 0.01, 0.01])),
        ("power", ([-3.0, 0.005, 0.5, 7.0], [0.5, 0.5, -2.0, 3.0]), ([0.01, 0.01, 0.5, 2.0], [0.5, 0.5, 0.01, 3.0])),
    ],
)
def test_parameters_outside_their_bounds_act_as_the_bound_and_stay_as_they_are(
    form: Form, given: tuple[list[float], list[float]], meant: tuple[list[float], list[float]]
) -> None:
    outside, inside = with_values(form, *given), with_values(form, *meant)
    before = {name: value.clone() for name, value in outside.state_dict().items()}
    assert torch.equal(outside.bias(QUERY, KEYS), inside.bias(QUERY, KEYS))
    assert all(torch.equal(before[name], value) for name, value in outside.state_dict().items())


@pytest.mark.parametrize("form", FORMS)
def test_gradients_are_the_derivatives_of_the_formula_and_those_of_the_bound_outside_it(form: Form) -> None:
    p, a = [0.5, 1.5, -1.0, 0.9], [0.3, 0.8, 0.5, -0.2]
    encoding, distances = with_values(form, p, a), [0, 1, 4, 128, 1000]
    encoding.bias(QUERY, KEYS).sum().backward()
    for head in range(4):
        p_used, a_used = max(p[head], 0.01), max(a[head], 0.01)
        if form == "log":
            by_p = -sum(math.log(1 + a_used * d) for d in distances)
            by_a = -p_used * sum(d / (1 + a_used * d) for d in distances)
        else:
            by_p = -a_used * sum(d**p_used * math.log(d) for d in distances if d)
            by_a = -sum(float(d) ** p_used for d in distances)
        assert encoding.p.grad is not None
        assert encoding.a.grad is not None
        assert encoding.p.grad[head].item() == pytest.approx(by_p, rel=1e-5)
        assert encoding.a.grad[head].item() == pytest.approx(by_a, rel=1e-5)


def test_training_brings_a_parameter_back_from_outside_its_bounds() -> None:
    encoding = with_values("log", [-0.2], [0.5])
    optimizer = torch.optim.SGD(encoding.parameters(), lr=0.01)
    for _ in range(60):
        optimizer.zero_grad()
        (encoding.bias(QUERY, KEYS) + 2.0).square().mean().backward()
        optimizer.step()
    assert encoding.p.item() > 0.05


def test_the_power_form_is_alibi_where_p_is_one() -> None:
    alibi = ALiBi(8)
    encoding = with_values("power", [1.0] * 8, list(alibi.slopes))
    bias = encoding.bias(QUERY, KEYS)
    kept = [head for head, slope in enumerate(alibi.slopes) if slope >= 0.01]  # the bound on a cuts off the rest
    torch.testing.assert_close(bias[:, kept], alibi.bias(QUERY, KEYS)[:, kept])
    assert len(kept) == 6


def test_fresh_parameters_fill_their_published_ranges() -> None:
    torch.manual_seed(0)
    encoding = KERPLE(4000)
    for values, end in ((encoding.p, 2.0), (encoding.a, 1.0)):
        assert 0.0 <= values.min().item() < 0.01 * end
        assert 0.99 * end < values.max().item() <= end
        assert values.mean().item() == pytest.approx(end / 2, rel=0.05)


@pytest.mark.usefixtures("unchecked")
def test_impossible_options_are_errors() -> None:
    with pytest.raises(GnomonError, match="at least 1 head, got num_heads=0"):
        KERPLE(0)
    with pytest.raises(GnomonError, match="one of log, power, got 'linear'"):
        KERPLE(2, form="linear")  # type: ignore[arg-type]


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("form", FORMS)
def test_it_traces_into_one_graph(form: Form) -> None:
    encoding, positions = KERPLE(3, form=form), torch.tensor([[2, 3, 9]])
    traced = torch.compile(encoding.bias, fullgraph=True, backend="eager")(positions, positions)
    torch.testing.assert_close(traced, encoding.bias(positions, positions))
