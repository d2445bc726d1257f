"""Resolutions with numbers by hand: two pairs, a reference, and a stack for each way to depart from it."""

from typing import Any

from gnomon.report.resolved.document import Column, Lint, Mend, Resolution, Status, Verdict
from gnomon.report.resolved.layers import Decided, Effect, Frequencies, Layer, Scale, Unread

LENGTHS = (4096, 4097, 16384)


def layer(*inverse: float, magnitude: float = 1.0, kind: str = "all layers") -> Layer:
    scales = tuple(Scale(length, magnitude, magnitude**2) for length in LENGTHS)
    return Layer(
        kind, 8, 2 * len(inverse), 1e4, "yarn", "half", frequencies=(Frequencies(LENGTHS, inverse),), scales=scales
    )


def effects(
    *, relative: float = 0.0, logits: float = 1.0, visible: int | None = None, why: str = ""
) -> tuple[Effect, ...]:
    return tuple(
        Effect("all layers", length, False, relative * length, 1, relative, 1, logits, visible, incomparable=why)
        for length in LENGTHS
    )


def made_up_resolution(text: str = "", target: str = "A model") -> Resolution:
    """The reference, an equal stack, four that differ, one that stops, one without the model; `text` in every name."""
    used = (Decided("factor", 4.0, f"rope_scaling.factor{text}"), Decided("base", 1e4, "default"))
    ignored = (Unread("rope_scaling.truncate", f"no{text}", "the ends are always rounded"),)
    same = (layer(1.0, 0.01),)

    def column(stack: str, verdict: Verdict, **fields: Any) -> Column:
        status: Status = verdict if verdict in ("stops", "absent") else "serves"
        given = {"message": "", "sure": "by reading", "sources": f"files{text}", "cap": 16384, **fields}
        return Column(stack, "1.0", f"Stack {stack}{text}", "2026", status, verdict, **given)

    columns = (
        column("hf5", "reference", sure="run", layers=same, used=used),
        column("twin", "equal", layers=same, effects=tuple(Effect("all layers", length, True) for length in LENGTHS)),
        column(
            "early", "differs", layers=(layer(1.0, 0.0176),), ignored=ignored, mend=Mend(f"--flag{text}"),
            effects=effects(relative=0.76, visible=455), sentences=(f"early ignores truncate{text}.",),
        ),
        column(
            "late", "differs", layers=(layer(1.0, 0.0101),), mend=Mend(), effects=effects(relative=0.01, visible=9000)
        ),
        column("hot", "differs", layers=(layer(1.0, 0.01, magnitude=1.14),), effects=effects(logits=1.3)),
        column(
            "narrow", "differs", layers=(layer(1.0),), effects=effects(why="2 of 8 columns turn, 4 in the reference")
        ),
        column("fails", "stops", message=f"KeyError: 'factor'{text}"),
        column("lacks", "absent", message="no such model"),
    )  # fmt: skip
    lints = (Lint("PE106", "unread-scaling-keys", "warning", "rope_scaling", f"nothing reads it{text}", "drop it"),)
    return Resolution(
        target + text, "config", "hf5@1.0", LENGTHS, 16384, columns, (f"One stack is equal{text}.",), lints, "1.0"
    )
