"""The positions a forward really used, read off its operations; and how much a cache holds."""

import pytest
import torch

from gnomon.adapters.subject import MissingEvidence
from gnomon.doctor.evidence.calling import model
from gnomon.doctor.evidence.decoding import decoding
from gnomon.doctor.evidence.places import positions_said, sources, watched
from gnomon.doctor.evidence.slots import Window, held, window
from tests.helpers.gallery_caches import Sinking
from tests.helpers.gallery_decoding import Core, Learning, Returning, Tabled, tokens
from tests.helpers.healthy import FOREIGN
from tests.helpers.toys import subject_of

WORDS = [9, 3, 31, 8, 22, 5, 17]  # do not count themselves


@pytest.mark.parametrize(("kind", "rows"), [(Returning, None), (Learning, 64), (Tabled, 32)])
def test_angles_lookups_and_slices_say_positions(kind: type[Core], rows: int | None) -> None:
    target, _ = tokens(kind())
    whole = torch.tensor([WORDS])
    found = sources(watched(target, lambda: target(whole)), 7)
    assert {source.rows for source in found} == {rows}
    _, past = target(whole)
    seen = watched(target, lambda: target(whole[:, :2], past))
    assert positions_said(seen, found, 2) == [[7, 8]]
    assert positions_said(seen, found, 3) == []


@pytest.mark.parametrize(("name", "start"), [("opt", 2), ("roberta", 2), ("gpt-2", 0)])
def test_rows_that_a_table_reserves_are_not_counted(name: str, start: int) -> None:
    target = FOREIGN[name]()
    ids = torch.tensor([WORDS])
    [source] = sources(watched(target, lambda: target(input_ids=ids)), 7)
    assert source.start == start
    assert positions_said(watched(target, lambda: target(input_ids=ids[:, :3])), [source], 3) == [[0, 1, 2]]


def test_a_bounded_cache_is_measured_in_tokens_and_in_numbers() -> None:
    subject = subject_of(tokens(Sinking()))
    assert window(subject) == Window(6, 2 * 2 * 6 * 32)
    probe, way = model(subject), decoding(subject)
    session = way.open(probe, 1)
    session.feed(probe.draw(1, 3))
    assert held(session) == 2 * 2 * 3 * 32
    with pytest.raises(MissingEvidence, match="keeps every token"):
        window(subject_of(tokens(Returning())))
