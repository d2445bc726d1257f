"""Published figures, copied from the papers a second time: a slip in one of the two copies is seen."""

import re

import pytest

from gnomon.advisor import article, published
from gnomon.report.advice.document import Evidence

#: Press et al. 2022, table 2, column by column.
LENGTHS = (512, 612, 712, 1012, 1512, 2512, 5512, 10512)
COLUMNS = {
    "sinusoidal": (20.05, 20.59, 24.86, 43.54, 76.23, 132.4, 240.4, 341.5),
    "rotary": (20.07, 19.81, 19.79, 21.37, 25.99, 31.58, 43.14, 60.77),
    "t5": (19.65, 19.27, 19.10, 18.79, 18.91, 20.41, 29.54, 52.95),
    "alibi": (19.73, 19.38, 19.14, 18.73, 18.52, 18.41, 18.36, 18.32),
}

#: The numbers of a statement in their order, as its paper has them.
FIGURES = {
    "KERPLE_LENGTHS": "512 256 512 1024 2048 4096 8192 4.58 4.35 5.44 8.75 13.35 4.61 4.55 4.87 5.03 4.77 5 4.55 4.37 "
    "12.1 164 595",
    "TRANSFORMER_XL_LENGTHS": "128 31.57 128 41.12 8192",
    "NOPE_LENGTHS": "1.3 1024 1500 1750 1400 2.121 2.307 251.7 2250 2500 2048 146 44.1",
    "NOPE_SIZES": "125 350 760 1.3 22.15 16.87 14.29 13.10 19.94 15.66 13.53 12.51",
    "SINUSOID_SIZES": "125 350 760 1.3 21.49 16.58 14.04 12.93 19.94 15.66 13.53 12.51",
    "ORDER_BLIND": "128 147.18 4.06",
    "IN_DOMAIN": "124 350 1 500000 18.92 15.10 17.67 250.6 20.15 19.56",
    "TRANSLATION": "14 27.3 27.5",
    "ENCODERS": "512 68.10 68.29 1024 69.79",
    "CONVERGENCE": "125 55,000 16.59 5 16.46 15.78",
    "NEEDLES": "494 0 0 0 17.8 0.5 14.6 5.2 0 1.1 9.2 36.2 21.4",
    "NEEDLES_AT_ONCE": "494 0 0 0 0 0 0 21.1 19.4 16.5 17.8 0.5 14.6",
    "SPANS": "1 1 88.52 90.54",
    "OFFSETS": "50 51 100 101 150 0.9986 0.9874 0.18 0",
    "ALGORITHMS": "0.69 5 0.55 0.50 0.33 0.22",
    "SPEED": "100 512 28.5 82.1 20.0 43.4 2 5 14.4 21.8 28.3 85.8",
    "VISION": "1 224 384 80.4 79.4 80.9 80.0 80.9 81.8 84.6 84.2 84.7 85.1 84.8 85.6",
    "DIRECT": "7 2048 7.20 2048 1000 4096",
    "INTERPOLATED_AT_ONCE": "7 16.10 8192 112.13 16384 200 7.12 7.05",
    "EXTENDED": "2 7 2 8 10 3.92 3.34 8.07 1 4.20 3.59 6.24 1 3.91 3.35 6.04 400",
    "YARN_AT_ONCE": "19.1 17.2 17.5",
    "FAR_EXTENDED": "2 2 7.08 8.27 20.17",
    "BASES": "1 1",
}
ROWS = {
    "LONG": "20.05 512 43.54 1012 341.5 10512",
    "STABLE": "10 15 15.78 16.59 55,000",
    "EDGE": "6 24 2 1 4 0.05 512",
    "DEFAULT": "12.93 12.51 1.3 2022 1",  # with the year and the table of Haviv et al.
}


def numbers(text: str) -> str:
    """Numbers of a sentence, without years and references."""
    plain = re.sub(r"\([A-Z][^()]*\d{4}[^()]*\)|Models of 2026|models of 2026", "", text)
    return " ".join(re.findall(r"\d+(?:[.,]\d+)*", plain))


def test_the_table_of_perplexities_beyond_the_trained_length() -> None:
    assert tuple(COLUMNS) == published.PRESS_ENCODINGS
    assert dict(zip(LENGTHS, zip(*COLUMNS.values(), strict=True), strict=True)) == published.PRESS


@pytest.mark.parametrize("name", FIGURES)
def test_a_statement_has_the_figures_of_its_paper(name: str) -> None:
    assert numbers(getattr(published, name).statement) == FIGURES[name]


def test_every_statement_was_copied_twice() -> None:
    assert set(FIGURES) == {name for name, value in vars(published).items() if isinstance(value, Evidence)}


@pytest.mark.parametrize("name", ROWS)
def test_the_article_is_answered_with_published_figures(name: str) -> None:
    assert numbers(getattr(article, name).why) == ROWS[name]
