"""The experiment that measures one claim."""

import pytest

from gnomon.errors import GnomonError
from gnomon.lab.experiments import Context, build_experiment


def test_numbers_of_a_claim_are_series_under_their_names() -> None:
    measured = build_experiment("claim", {"number": 18}).run(Context(0)).measured[""]
    assert measured["norm"].value() == pytest.approx(16)
    assert list(measured) == ["norm", "spread"]


@pytest.mark.parametrize("number", [9, 15])
def test_a_claim_without_a_measurement_of_its_own_is_an_error(number: int) -> None:
    with pytest.raises(GnomonError, match=f"Claim {number} has no measurement of its own"):
        build_experiment("claim", {"number": number}).run(Context(0))
