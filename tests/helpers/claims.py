"""Claims of the article by number, measured with one seed, and made-up numbers to judge by."""

from collections.abc import Mapping

from gnomon.lab.claims import Measured, all_claims
from gnomon.lab.experiments import Context
from gnomon.report.lab.claims import Verdict
from gnomon.report.lab.spread import Spread, spread


def measured_claim(number: int) -> Measured:
    [claim] = all_claims([number])
    assert isinstance(claim, Measured)
    return claim


def measure(number: int, seed: int = 0) -> dict[str, float]:
    return measured_claim(number).measure(Context(seed))


def made_up(numbers: Mapping[str, float | tuple[float, ...]]) -> dict[str, Spread]:
    """A number alone is that of one seed."""
    return {
        name: spread(dict(enumerate(value if isinstance(value, tuple) else (value,))))
        for name, value in numbers.items()
    }


def verdict(number: int, numbers: Mapping[str, float | tuple[float, ...]]) -> Verdict:
    return measured_claim(number).judge(made_up(numbers)).verdict
