"""Rows of text, images and videos against transformers' own ids, and against counting by the paper's rule."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from transformers.models.qwen2_5_vl.modeling_qwen2_5_vl import Qwen2_5_VLModel
from transformers.models.qwen2_vl.modeling_qwen2_vl import Qwen2VLModel

from gnomon import positions
from gnomon.encodings import MRoPE, Rotary
from gnomon.errors import PositionError
from gnomon.positions import Segment

KINDS = {"text": 0, "image": 1, "video": 2}

TEXT = st.tuples(st.just("text"), st.integers(1, 5))
VISION = st.tuples(
    st.sampled_from(["image", "video"]),
    st.tuples(st.integers(1, 3), st.integers(1, 4).map(lambda n: 2 * n), st.integers(1, 4).map(lambda n: 2 * n)),
)


def theirs(
    segments: list[Any], model: Any = Qwen2VLModel, padding: int = 0, seconds: list[float] | None = None
) -> tuple[Tensor, Tensor]:
    """transformers' ids, brought to (1, S, 3), and its decode delta; its method needs the config's numbers alone."""
    vision = SimpleNamespace(spatial_merge_size=2, tokens_per_second=4)
    own = SimpleNamespace(config=SimpleNamespace(vision_config=vision))
    own.get_vision_position_ids = model.get_vision_position_ids.__get__(own)
    kinds: list[int] = [0] * padding
    grids: dict[str, list[Any]] = {"image": [], "video": []}
    for kind, size in segments:
        tokens = size if kind == "text" else size[0] * size[1] * size[2] // 4
        kinds += [KINDS[kind]] * tokens
        if kind != "text":
            grids[kind].append(size)
    types = torch.tensor([kinds])
    ids, delta = model.get_rope_index(
        own,
        input_ids=torch.zeros_like(types),
        mm_token_type_ids=types,
        image_grid_thw=torch.tensor(grids["image"]) if grids["image"] else None,
        video_grid_thw=torch.tensor(grids["video"]) if grids["video"] else None,
        attention_mask=(torch.arange(len(kinds)) >= padding)[None].long(),
        **({} if seconds is None else {"second_per_grid_ts": torch.tensor(seconds)}),
    )
    return ids.permute(1, 2, 0), delta


def apart(segments: list[Any]) -> list[Any]:
    """Two pictures of one kind side by side would be one group of tokens to transformers."""
    spaced: list[Any] = []
    for segment in segments:
        if spaced and spaced[-1][0] == segment[0]:
            spaced.append(("text", 1) if segment[0] != "text" else ("image", (1, 2, 4)))
        spaced.append(segment)
    return spaced


@given(st.lists(st.one_of(TEXT, VISION), min_size=1, max_size=6).map(apart))
def test_mixed_rows_equal_qwen2_vl_while_videos_are_short(segments: list[Any]) -> None:
    short = [
        (kind, size if kind == "text" else (min(size[0], max(size[1:]) // 2), *size[1:])) for kind, size in segments
    ]
    ours = positions.from_segments(short, merge=2)
    expected, delta = theirs(short)
    assert ours.dtype == torch.int64
    assert ours.tolist() == expected.tolist()
    assert positions.after_segments(ours, 1)[0, 0].tolist() == [ours.shape[1] + int(delta)] * 3


def test_a_long_video_is_followed_by_its_largest_id_plus_one_as_the_paper_says() -> None:
    segments: list[Segment] = [("text", 2), ("video", (7, 4, 2)), ("text", 3)]
    ours = positions.from_segments(segments, merge=2)[0]
    expected = theirs(segments)[0][0]
    assert ours[:-3].tolist() == expected[:-3].tolist()
    assert ours[:-3].max() == 8
    assert ours[-3:, 0].tolist() == [9, 10, 11]
    assert expected[-3:, 0].tolist() == [4, 5, 6]  # transformers 5.24 gives text the ids of frames that came before


@pytest.mark.parametrize("seconds", [0.5, 0.4, 1.0])
def test_frames_of_qwen2_5_vl_stand_seconds_apart(seconds: float) -> None:
    segments: list[Segment] = [("text", 3), ("image", (1, 4, 2)), ("text", 1), ("video", (2, 8, 10)), ("text", 2)]
    ours = positions.from_segments(segments, merge=2, frame_step=4 * seconds)
    expected, _ = theirs(segments, Qwen2_5_VLModel, seconds=[seconds])
    assert ours.tolist() == expected.tolist()


def test_left_padding_does_not_move_a_row() -> None:
    segments: list[Segment] = [("image", (1, 4, 6)), ("text", 2)]
    expected, delta = theirs(segments, padding=3)
    ours = positions.from_segments(segments, merge=2)
    assert expected[:, 3:].tolist() == ours.tolist()
    padded = torch.nn.functional.pad(ours, (0, 0, 3, 0), value=-1)
    following = positions.after_segments(torch.cat((padded, expected)), 2)
    assert following.tolist() == [[[ours.shape[1] + int(delta) + i] * 3 for i in range(2)]] * 2


@given(st.lists(st.one_of(TEXT, VISION), min_size=1, max_size=5))
def test_every_segment_starts_after_the_largest_id_so_far(segments: list[Any]) -> None:
    ids = positions.from_segments(segments, merge=2)[0].tolist()
    at, start = 0, 0
    for kind, size in segments:
        if kind == "text":
            want = [[start + i] * 3 for i in range(size)]
        else:
            time, height, width = size[0], size[1] // 2, size[2] // 2
            places = [(t, h, w) for t in range(time) for h in range(height) for w in range(width)]
            want = [[start + coordinate for coordinate in place] for place in places]
        assert ids[at : at + len(want)] == want
        at, start = at + len(want), max(max(token) for token in want) + 1
    assert at == len(ids)


def test_a_row_of_text_turns_as_with_plain_rotary_and_goes_on_step_by_step() -> None:
    ids = positions.from_segments([("text", 4), ("text", 2)])
    assert torch.equal(ids, torch.arange(6)[None, :, None].expand(1, 6, 3))
    q = torch.randn(1, 2, 6, 12, generator=torch.Generator().manual_seed(0))
    turned = MRoPE(12, sections=(2, 2, 2)).rotate_query(q, ids)
    torch.testing.assert_close(turned, Rotary(12).rotate_query(q, ids[..., 0]))
    first = positions.after_segments(ids, 1)
    assert torch.equal(torch.cat((first, positions.after_segments(first, 1)), dim=1), positions.after_segments(ids, 2))


def test_ids_are_made_where_they_are_asked_for() -> None:
    ids = positions.from_segments([("text", 1), ("image", (1, 2, 2)), ("text", 2)], device="meta")
    assert ids.device.type == "meta"
    assert ids.shape == (1, 7, 3)


NOT_SEGMENTS: dict[str, list[Any]] = {
    "two sizes": [("image", (3, 4))],
    "unknown": [("audio", 4)],
    "text of an image": [("text", (1, 2, 2))],
}

BAD_INPUT = {
    "nothing": (lambda: positions.from_segments([]), "at least one segment"),
    "no text": (lambda: positions.from_segments([("text", 0)]), "at least 1 token, got 0"),
    "not merged": (lambda: positions.from_segments([("image", (1, 3, 4))], merge=2), r"of merge=2, got \(1, 3, 4\)"),
    "two sizes": (
        lambda: positions.from_segments(NOT_SEGMENTS["two sizes"]),
        r"\(time, height, width\) .* got \(3, 4\)",
    ),
    "unknown": (lambda: positions.from_segments(NOT_SEGMENTS["unknown"]), r"A segment is .* got \('audio', 4\)"),
    "text of an image": (lambda: positions.from_segments(NOT_SEGMENTS["text of an image"]), "A segment is"),
    "merge": (lambda: positions.from_segments([("text", 1)], merge=0), "merge=0"),
    "step": (lambda: positions.from_segments([("text", 1)], frame_step=0.0), "frame_step=0.0"),
    "nothing new": (lambda: positions.after_segments(torch.zeros(1, 2, 3).long(), 0), "at least 1 new token, got 0"),
    "nothing before": (lambda: positions.after_segments(torch.zeros(1, 0, 3).long(), 1), r"got .* shape \(1, 0, 3\)"),
    "flat": (lambda: positions.after_segments(torch.zeros(1, 2).long(), 1), r"\(batch, sequence, axes\), got"),
    "floats": (lambda: positions.after_segments(torch.zeros(1, 2, 3), 1), "integers, got torch.float32"),
}


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("name", BAD_INPUT)
def test_bad_rows_are_one_clear_sentence(name: str) -> None:
    call, message = BAD_INPUT[name]
    with pytest.raises(PositionError, match=message):
        call()
