"""A realistic report with figures from real sinusoid numbers, for the tests of the renderers."""

import numpy as np

from gnomon.plots import decay, heat_map, similarity, wavelengths
from gnomon.plots.figure import Figure
from gnomon.report.document import CheckResult, Finding, FoundEncoding, Measured, Report, Severity

TARGET = "/home/someone/checkpoints/experiments/2026-11/encoder-small-with-a-long-name/checkpoint-120000/config.json"
TABLE = "encoder.embeddings.position_embeddings.weight"


def sinusoids(positions: int, dim: int, base: float = 10000.0) -> np.ndarray:
    """The interleaved table of Vaswani et al. 2017, section 3.5: sin at even dimensions, cos at odd ones."""
    angles = np.arange(positions)[:, None] / base ** (2 * np.arange(dim // 2) / dim)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(positions, dim)


def sample_figures() -> tuple[Figure, ...]:
    """A heat map, a similarity matrix, wavelengths and a decay."""
    table = sinusoids(96, 48)
    frequencies = 10000.0 ** (-2 * np.arange(24) / 48)
    distances = np.arange(0.0, 256.0)
    scores = np.cos(distances[:, None] * frequencies).mean(axis=1)
    return (
        heat_map(table, title=f"Values of {TABLE}"),
        similarity(table),
        wavelengths(frequencies, context_length=512),
        decay(distances, np.stack([scores, -distances / 256]), names=("rotary", "head 8, slope 1/256")),
    )


def sample_report(*, figures: tuple[Figure, ...] | None = None) -> Report:
    """Two encodings, 25 checks: three failed with four findings, one crashed, 16 passed, five did not apply."""
    drawn = sample_figures() if figures is None else figures
    checks = (*_failed(), _crashed(), *_passed(), *_not_applicable())
    return Report(TARGET, _encodings(), checks, drawn, "0.1.0")


def _encodings() -> tuple[FoundEncoding, ...]:
    learned = {"max_length": 512, "rows": 514, "padding_offset": 2, "dim": 384}
    rotary = {
        "head_dim": 64,
        "rotary_dim": 32,
        "layout": "half",
        "frequencies": {"kind": "yarn", "base": 100000.0, "factor": 8.0, "original_max_length": 4096},
    }
    return (
        FoundEncoding("learned", "encoder.embeddings", learned, "weights"),
        FoundEncoding("rotary", "decoder.layers.*.self_attn", rotary, "config"),
    )


def _failed() -> tuple[CheckResult, ...]:
    duplicates = Finding(
        TABLE,
        "Rows 3 and 4 of the table hold the same vector, so the model cannot tell these positions apart.",
        "Train the table from a fresh initialisation, or copy the missing rows from the checkpoint before the resize.",
        {"pairs": 1, "largest cosine": 1.0},
    )
    shifted = Finding(
        "decoder.layers.*.self_attn",
        "Logits move by 0.412 when all position ids move by 16: the rotation is applied to the queries only.",
        "Call rotate_key with the positions of the keys, and store rotated keys in the cache.",
        {"largest logit change": 0.4123456, "shift": 16},
    )
    fix = "Build the ids with positions.from_mask."
    masked = Finding("decoder", "Left padding changes the logits of real tokens.", fix, {"change": 2.75})
    loud = Finding(
        "encoder.embeddings",
        "The positions are 11.3 times as large as the words, which then hardly count.",
        "Multiply the word embeddings by sqrt(384), or divide the table.",
        {"norm ratio": 11.31},
    )
    ratio = Measured("norm ratio", 11.31, 4.0, "Above 4 the words carry less than 6% of the energy of the sum.")
    distance = Measured("smallest distance between rows", 0.0, 1e-6, "Rows closer than rounding are one position.")
    change = Measured("largest logit change", 0.4123456, 1e-3, "Healthy float32 models stay below 1.3e-5.")
    return (
        _failed_check("PE307", "positions-too-loud", "Words and positions have like norms.", ratio, (loud,), "warning"),
        _failed_check("PE204", "duplicated-rows", "Every position has its own row.", distance, (duplicates,)),
        _failed_check("PE403", "shift-of-ids", "Only differences of positions count.", change, (shifted, masked)),
    )


def _failed_check(
    code: str, name: str, title: str, measured: Measured, findings: tuple[Finding, ...], severity: Severity = "error"
) -> CheckResult:
    return CheckResult(code, name, severity, "failed", title, 0.4, "", (measured,), findings)


def _crashed() -> CheckResult:
    trace = (
        'Traceback (most recent call last):\n  File "forward.py", line 12, in run\nRuntimeError: size 514 against 512'
    )
    return CheckResult("PE502", "gradient-reaches-table", "error", "crashed", "The table learns.", 0.2, trace)


def _passed() -> tuple[CheckResult, ...]:
    rows: tuple[tuple[str, str, str, float | int | str, float | int | str | None, str], ...] = (
        ("PE101", "width-mismatch", "width of the table", 384, 384, "The table is added to the words."),
        ("PE102", "rotary-width-is-even", "rotated width", 32, None, ""),
        ("PE103", "length-against-table", "usable positions", 512, 512, "What the config states must exist."),
        ("PE104", "rope-fields-agree", "fields that disagree", 0, 0, "Two spellings of one number must be equal."),
        ("PE105", "tokenizer-fits", "model_max_length", 512, 512, "Longer inputs would index past the table."),
        ("PE201", "table-is-finite", "values that are NaN or infinite", 0, 0, "One NaN spreads to every logit."),
        (
            "PE202",
            "table-is-not-constant",
            "spread along positions",
            0.0204,
            1e-6,
            "Below rounding nothing is told apart.",
        ),
        ("PE203", "table-is-not-zero", "largest size", 1.87, 0.0, "A table of zeros carries nothing."),
        (
            "PE205",
            "not-transposed",
            "smoothness along positions",
            0.91,
            0.5,
            "Neighbours look alike along positions only.",
        ),
        ("PE206", "frequency-order", "rank correlation", 1.0, 0.99, "Frequencies fall with the index."),
        ("PE207", "table-against-reference", "largest error", 5.9e-08, 1e-5, "Float32 rounding stays below 1e-6."),
        ("PE208", "precision-of-ids", "dtype", "int64", "int64", "bfloat16 keeps integers apart up to 256 only."),
        (
            "PE301",
            "order-matters",
            "change under permutation",
            3.41,
            1e-3,
            "Noise of healthy models stays below 1.3e-5.",
        ),
        ("PE302", "added-once", "additions", 1, 1, "Twice the positions are positions of another scale."),
        (
            "PE303",
            "position-recovered",
            "accuracy of the probe",
            0.97,
            0.5,
            "Chance is 0.0104, the control reaches 0.02.",
        ),
        ("PE401", "step-by-step", "largest difference", 1.1e-05, 1e-3, "Sums in another order differ by rounding."),
    )
    return tuple(
        CheckResult(code, name, "error", "passed", "", 0.05, "", (Measured(what, value, threshold, why),))
        for code, name, what, value, threshold, why in rows
    )


def _not_applicable() -> tuple[CheckResult, ...]:
    rows = (
        ("PE402", "left-padding", "no attention mask: the model takes none"),
        ("PE404", "packed-documents", "no packed example: give one with example=..."),
        ("PE501", "gradients-are-balanced", "no training step: run gnomon.diagnose(..., training=step)"),
        ("PE601", "exported-graph", "no ONNX file"),
        ("PE701", "lengths-of-the-data", "no data: give lengths=..."),
    )
    return tuple(CheckResult(code, name, "warning", "not-applicable", "", 0.0, detail) for code, name, detail in rows)
