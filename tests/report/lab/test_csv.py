"""The results as CSV: tidy rows, all digits, reasons, names that need quotes."""

import csv
import io

from gnomon.report.lab.csv import render_csv
from tests.helpers.made_up_study import made_up_study


def rows(word: str = "") -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(render_csv(made_up_study(word)))))


def test_there_is_a_row_for_each_run_measure_and_place() -> None:
    found = rows()
    assert len(found) == 3 * 3 * (1 + 3)  # variants, seeds, one number and three places
    first, second = found[0], found[1]
    assert (first["suite"], first["size"], first["group"], first["variant"]) == (
        "extrapolation",
        "quick",
        "copy",
        "alibi",
    )
    assert (first["seed"], first["measure"], first["unit"], first["axis"], first["at"]) == ("0", "loss", "nats", "", "")
    assert (first["value"], first["why"], first["seconds"]) == ("1.25", "", "2.5")
    assert (second["measure"], second["axis"], second["at"], second["value"]) == ("exact_match", "length", "16", "0.99")
    assert first["key"] == second["key"] == made_up_study().results[0].run.key


def test_a_number_that_could_not_be_measured_is_empty_with_the_reason() -> None:
    lacking = [row for row in rows() if not row["value"]]
    assert len(lacking) == 3 * 2
    assert {(row["variant"], row["why"]) for row in lacking} == {("learned", "the table ends at 34 slots")}
    assert all(not row["why"] for row in rows() if row["value"])


def test_numbers_keep_all_their_digits() -> None:
    assert {float(row["value"]) for row in rows() if row["variant"] == "rotary" and row["measure"] == "loss"} == {
        1.125,
        1.125 + 0.01,
        1.125 + 0.02,
    }


def test_names_with_quotes_commas_and_lines_are_read_back() -> None:
    word = ' "quoted", and\na line'
    assert {row["variant"] for row in rows(word)} == {f"{name}{word}" for name in ("alibi", "rotary", "learned")}
