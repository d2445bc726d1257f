"""A report in which one cause joins findings of two checks, beside one that stands alone."""

from gnomon.report.cause import Cause, Location
from gnomon.report.document import CheckResult, Finding, Report

HEADLINE = "inverse frequencies were cast to bfloat16"
FIX = "keep inv_freq in float32: cast only cos and sin"


def joined_report(file: str = "somewhere/model.py") -> Report:
    stored = Finding("rotary.inv_freq", "stored in bfloat16", FIX, {"bits": 16}, location=Location(file, 12))
    turned = Finding("layers.*.attention", "frequencies differ by 0.4 %", "recompute them")
    alone = Finding("embeddings", "rows 3 and 4 are equal", "draw them anew")
    return Report(
        "model",
        checks=(
            CheckResult("PE209", "low-precision-frequencies", "error", "failed", findings=(stored,)),
            CheckResult("PE307", "rotation-against-formula", "error", "failed", findings=(turned,)),
            CheckResult("PE207", "duplicated-rows", "warning", "failed", findings=(alone,)),
        ),
        causes=(Cause("frequencies-in-half-precision", HEADLINE, FIX, (("PE209", 0), ("PE307", 0))),),
        notes=("a smaller twin of the model was run",),
    )
