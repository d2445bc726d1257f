"""PE414: tokens of an image or a video, or the text after them, have other coordinates than their grid gives."""

from collections.abc import Iterator

import torch
from torch import Tensor

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.again import unused
from gnomon.doctor.evidence.noise import difference
from gnomon.doctor.evidence.planes import Planes, planes
from gnomon.doctor.evidence.signature import main_output
from gnomon.report.document import Finding, Measured

REACH = 1e-6


@check("PE414", "image-positions", severity="error", needs=("example", planes))
def image_positions(subject: Subject) -> Iterator[Finding | Measured]:
    """On the example, an image's or video's tokens have other (time, height, width) ids than their grid gives.

    Why: models with M-RoPE number an image by row and column, all of it at one time, and text goes on behind the
    largest number so far. A forward that was patched may count 0, 1, 2 instead; a video's seconds applied to a still
    image move it in time; wrong arithmetic of a video's frames shows only when a frame lasts more than one step. The
    repeated numbers of one plane are no border between documents either.

    Fix: gnomon.positions.from_segments gives the ids for text, images and videos of a row.

    Sources: Wang et al. 2024, arXiv:2409.12191, section 2.1; transformers issues 45325 (seconds on still images), 45381
    (frames) and 40154 (a plane taken for packed documents); linkedin/Liger-Kernel#276 (one plane for all).
    """
    found = planes(subject)
    wrong = _wrong(found)
    yield Measured("tokens whose coordinates are right", len(wrong) - int(wrong.sum()), len(wrong), "by their grids")
    if wrong.any():
        at = int(wrong.nonzero()[0])
        seen = [i for i, kind in enumerate(found.kinds) if kind == found.kinds[at]]
        times, heights, widths = found.right[seen].T.tolist()
        yield Finding(
            "the position ids",
            f"token {at} ({found.kinds[at]}) has (time, height, width) {_spelled(found.used[at])}, not "
            f"{_spelled(found.right[at])}; {int(wrong.sum())} of {len(wrong)} tokens differ",
            f"give tokens of this kind the times {times}, heights {heights} and widths {widths} "
            "(gnomon.positions.from_segments)",
            {"wrong": int(wrong.sum()), "first": at},
        )
        return
    yield from _reach(subject, found)


def _wrong(found: Planes) -> Tensor:
    """Which tokens have wrong ids. Text behind a video that is longer than wide may start at its largest side."""
    wrong = (found.used != found.right).any(-1)
    if "video" in found.kinds:
        last = max(i for i, kind in enumerate(found.kinds) if kind == "video")
        wrong[last + 1 :] = False
    return wrong


def _spelled(ids: Tensor) -> str:
    return f"({', '.join(str(int(i)) for i in ids)})"


def _reach(subject: Subject, found: Planes) -> Iterator[Finding | Measured]:
    """Whether the first token of text still has an effect on the last one, behind an image."""
    texts = [i for i, kind in enumerate(found.kinds) if kind == "text"]
    others = [i for i, kind in enumerate(found.kinds) if kind != "text"]
    if not others or not texts or texts[0] > min(others) or texts[-1] < max(others):
        return
    module, example = unused(subject).module, subject.example
    ids = example["input_ids"].clone()
    ids[0, texts[0]] = ids[0, texts[-1]]
    if bool((ids == example["input_ids"]).all()):
        return
    try:
        with torch.no_grad():
            before, after = (
                main_output(module(**{**example, "input_ids": given})) for given in (example["input_ids"], ids)
            )
    except Exception as error:
        raise MissingEvidence("the forward fails on its own example") from error
    effect = difference(before[:1, -1], after[:1, -1])
    yield Measured("effect of the first token on the last, past an image", effect, REACH, "0 when a border was drawn")
    if effect < REACH:
        yield Finding(
            "the attention mask",
            "the first token has no effect on the last: repeated ids inside the image were taken for a border between "
            "documents",
            "read borders of packed documents from ids that count text, never from the time of image tokens",
            {"effect": effect},
        )
