"""The figure of input lengths."""

import numpy as np

from gnomon.adapters.subject import Subject
from gnomon.doctor.figures import figures
from gnomon.plots.figure import Lines
from tests.helpers.subjects import claim
from tests.helpers.toys import Toy, subject_of


def drawn(subject: Subject) -> list[Lines]:
    return [f for f in figures(subject) if isinstance(f, Lines) and f.title == "lengths of the inputs"]


def test_inputs_are_counted_and_the_limit_is_a_line() -> None:
    [figure] = drawn(Subject("x", claims=(claim("learned", max_length=8),), lengths=[2, 2, 9]))
    inputs, limit = figure.curves
    assert dict(zip(inputs.x[::2], inputs.y[::2], strict=True)) == {
        float(i): float((2 * (i == 2)) + (i == 9)) for i in range(10)
    }
    np.testing.assert_array_equal(limit.x, [8, 8])
    np.testing.assert_array_equal(limit.y, [0, 2])
    assert figure.note == "3 inputs, median 2 tokens, 33.3% beyond the limit"


def test_a_long_list_is_drawn_in_sixty_bins() -> None:
    [figure] = drawn(subject_of(Toy(), lengths=list(range(5000))))
    assert len(figure.curves[0].x) == 120
    assert figure.curves[0].y[::2].sum() == 5000


def test_without_lengths_there_is_none() -> None:
    assert drawn(subject_of(Toy())) == []


def test_without_a_limit_there_is_no_line() -> None:
    [figure] = drawn(Subject("x", lengths=[0]))
    assert [curve.name for curve in figure.curves] == ["inputs"]
