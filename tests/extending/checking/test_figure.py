from gnomon.extending.checking import figures
from gnomon.extending.checking.noise import Change
from gnomon.extending.checking.results import AtLength, Checked, Models, Position
from gnomon.plots.webpage import figures_page

PLACES = (Position(0, 8, 3.0, None), Position(8, 32, 2.0, 1.5))
NONE = Change(None, None)


def test_each_length_is_a_figure_with_a_curve_for_each_model() -> None:
    checked = Checked(
        Models("a", "b", "causal", 8, 32), 4, (AtLength(8, 1, NONE, NONE), AtLength(32, 1, NONE, NONE, None, PLACES))
    )
    [figure] = figures(checked)
    assert figure.title == "Loss by place in rows of 32 tokens"
    assert [(c.name, c.x.tolist(), c.y.tolist()) for c in figure.curves] == [
        ("before: a", [4.0, 20.0], [3.0, 2.0]),
        ("after: b", [20.0], [1.5]),
    ]
    assert "Loss by place" in figures_page([figure])
