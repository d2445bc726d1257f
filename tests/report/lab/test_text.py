"""The study as text: golden lines, 80 columns, dashes with reasons, nothing that steers a terminal."""

import re
from dataclasses import replace

import pytest
from rich.cells import cell_len

from gnomon.report.lab.text import render_text
from tests.helpers.made_up_study import COMMAND, made_up_study

GOLDEN = """\
gnomon lab extrapolation (quick): Train short, test long
Which encodings work at lengths that were not trained?

Of 4 expectations, 1 fails, 1 showed no difference, 1 was not measured and 1
holds.

  holds: ALiBi holds at four times the trained length.
    seen    exact match 0.91 at length 64, 0.98 of that at 16
    source  Press et al. 2022, arXiv:2108.12409

  fails: Plain rotary holds.
    seen    0.0625 at length 64
    source  an article

  no difference seen: The losses differ.
    seen    1.26 and 1.135
    source  no source

  not measured: A table can be enlarged.
    seen    no run enlarged one
    source  no source

copy, mean ± standard deviation over 3 seeds
            test loss
               (nats)
alibi    1.26 ± 0.01*
rotary   1.14 ± 0.01*
learned  1.51 ± 0.01
test loss: best rotary; no difference to it seen of alibi.

copy: exact match (share) by length, mean ± standard deviation over 3 seeds
                     16              32              64
alibi    0.990 ± 0.000   0.970 ± 0.000   0.910 ± 0.000
rotary     1.00 ± 0.00   0.500 ± 0.000   0.062 ± 0.000
learned  0.980 ± 0.000               -               -
learned has no number at 32, 64: the table ends at 34 slots.
exact match: no ranking; it takes 3 seeds that every variant has.

Comparisons
  copy
    test loss: alibi is higher (worse) than rotary by 0.125 nats (95% interval
      0.100 to 0.150, 3 seeds).
    exact match at length 64: no difference seen between alibi and rotary (alibi
      - rotary = 0.848 share, 95% interval -0.200 to 1.90, 3 seeds).
    exact match at length 16: one seed, no comparison (alibi - learned = 0.010
      share).
"""


def test_a_study_reads_as_written_here() -> None:
    assert render_text(made_up_study()).startswith(GOLDEN)


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("word", ["", "x" * 300, "层" * 120, " word" * 60])
def test_no_line_is_wider_than_asked_and_long_names_are_kept_whole(word: str, width: int) -> None:
    lines = render_text(made_up_study(word), width=width).splitlines()
    assert max(cell_len(line) for line in lines) <= width
    squeezed = re.sub(r"[\s\\]", "", "".join(lines))
    for name in ("alibi", "copy", "the table ends at 34 slots", "a note", "The loss was not finite at step 7."):
        assert re.sub(r"\s", "", name + word) in squeezed


def test_names_cannot_steer_the_terminal() -> None:
    text = render_text(made_up_study("\x1b[2J\x07evil\r\n\u202egnp\udc80"))
    assert all(char.isprintable() or char == "\n" for char in text)


def test_commands_are_whole_or_go_on_as_a_shell_reads_them() -> None:
    lines = render_text(made_up_study(), width=50).splitlines()
    start = next(index for index, line in enumerate(lines) if line.startswith("To repeat it"))
    assert "\n".join(lines[start + 1 : start + 3]).replace("\\\n", "").split() == COMMAND.split()
    assert f"    {COMMAND}" in render_text(made_up_study()).splitlines()


def test_a_star_marks_the_best_only_where_a_ranking_may_be_printed() -> None:
    assert "1.14 ± 0.01*" in render_text(made_up_study())
    unranked = render_text(replace(made_up_study(), rankings=()))
    assert "*" not in unranked
    assert "test loss: no ranking; it takes 3 seeds that every variant has." in unranked


def test_one_seed_has_no_spread_and_says_so() -> None:
    study = made_up_study()
    text = render_text(replace(study, results=tuple(r for r in study.results if r.run.seed == 0), rankings=()))
    assert "copy, one seed" in text
    assert "±" not in text.split("Comparisons")[0]


def test_a_variant_with_fewer_seeds_says_so() -> None:
    study = made_up_study()
    kept = tuple(r for r in study.results if (r.run.variant, r.run.seed) != ("alibi", 2))
    assert "(2 seeds)" in render_text(replace(study, results=kept))
