"""Claim 40, in two real processes."""

import pytest

from gnomon.errors import GnomonError
from tests.helpers.claims import measure, measured_claim, verdict


def test_two_processes_have_the_same_table_and_get_the_same_buffer() -> None:
    numbers = measure(40)
    assert numbers == {"computed tensor": 0.0, "buffer before": 1.0, "buffer after": 0.0}
    assert verdict(40, numbers) == "fails"
    assert verdict(40, {**numbers, "computed tensor": 0.5}) == "holds"
    assert verdict(40, {**numbers, "buffer after": 1.0}) == "holds"


def test_processes_that_cannot_start_are_an_error_with_their_last_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "false")
    with pytest.raises(GnomonError, match="could not be joined"):
        measured_claim(40).measure(None)  # type: ignore[arg-type]
