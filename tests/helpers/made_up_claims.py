"""A report of claims with everything that one can hold, from numbers that are written down."""

from gnomon.report.lab.claims import ClaimResult, ClaimsReport
from gnomon.report.lab.spread import Spread

EXACT = Spread(16.0, 16.0, 16.0, None, 1)
NOISY = Spread(0.5, 0.25, 0.75, 0.25, 3)


def made_up_claims(word: str = "") -> ClaimsReport:
    """`word` stands wherever a sentence can."""
    claims = (
        ClaimResult(
            18,
            "3.3",
            f"The norm is 22.6.{word}",
            f"It is 16.{word}",
            "fails",
            f"16.0{word}",
            {"norm": EXACT},
            seconds=0.5,
        ),
        ClaimResult(
            13,
            "2.2",
            "Learned is faster.",
            "Nobody knows.",
            "depends",
            "0.5 | 0.6",
            {f"ratio | {word}": NOISY},
            private=f"10 to 15% faster{word}",
            links=("PE501", "PE212"),
        ),
        ClaimResult(15, "2.3", "Choose so.", "Partly.", "not measurable here", "Advice."),
        ClaimResult(20, "4.1", "Relative.", "True.", "holds", "0", {"error": EXACT}),
        ClaimResult(26, "4.2", "Linear.", "True.", "holds", "0", {"error": EXACT}),
    )
    environment = {"torch": "2.13.0", "cpu": f"some cpu{word}", "cores": "2"}
    return ClaimsReport(claims, "quick", f"gnomon lab claims --quick{word}", "2026-11-30", (0, 1, 2), environment, 81.5)
