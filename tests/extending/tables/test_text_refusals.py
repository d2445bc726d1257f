"""What cannot be extended is refused while it is planned, in one sentence."""

import math
from pathlib import Path
from typing import Any

import pytest

from gnomon.errors import GnomonError
from gnomon.extending.tables import Options, plan_tables
from tests.helpers.extended_folder import config_of, saved
from tests.helpers.tiny_transformers import LENGTH, edit_config

TO = 101


@pytest.mark.parametrize(
    ("to", "options", "said"),
    [
        (LENGTH, {}, f"has {LENGTH} positions .*got to={LENGTH}"),
        (12, {"method": "interpolate"}, "tables only become longer, got to=12"),
        (TO, {"method": "yarn"}, "'yarn' scales rotations"),
        (0, {}, "whole number from 1"),
        (True, {}, "whole number from 1"),
        (LENGTH**2 + 1, {"method": "hierarchical"}, f"name {LENGTH**2} positions"),
        (TO, {"method": "keep-first", "options": Options(keep=LENGTH)}, "can be kept"),
        (TO, {"method": "interpolate", "options": Options(kind="bicubic")}, "linear or cubic"),
        (math.nan, {}, "whole number from 1"),
    ],
)
def test_what_cannot_be_is_said_before_anything_is_written(tmp_path: Path, to: Any, options: Any, said: str) -> None:
    saved(tmp_path / "model", "bert")
    with pytest.raises(GnomonError, match=said):
        plan_tables(tmp_path / "model", config_of(tmp_path / "model"), to=to, **options)


def test_a_table_that_the_config_contradicts_is_refused(tmp_path: Path) -> None:
    saved(tmp_path / "model", "bert")
    edit_config(tmp_path / "model", max_position_embeddings=50)
    with pytest.raises(GnomonError, match="has 37 rows, but by max_position_embeddings"):
        plan_tables(tmp_path / "model", config_of(tmp_path / "model"), to=TO)


def test_a_config_without_a_length_is_refused(tmp_path: Path) -> None:
    saved(tmp_path / "model", "bert")
    edit_config(tmp_path / "model", max_position_embeddings=None)
    with pytest.raises(GnomonError, match="does not say how many positions the model has; add max_position_embeddings"):
        plan_tables(tmp_path / "model", config_of(tmp_path / "model"), to=TO)


def test_a_table_of_an_unknown_model_without_a_length_is_named(tmp_path: Path) -> None:
    saved(tmp_path / "model", "bert")
    edit_config(tmp_path / "model", model_type="novel", max_position_embeddings=55)
    with pytest.raises(GnomonError, match=r"embeddings.position_embeddings.weight' of 37 rows has no length"):
        plan_tables(tmp_path / "model", config_of(tmp_path / "model"), to=TO)


def test_a_learned_table_that_is_not_there_is_missed(tmp_path: Path) -> None:
    saved(tmp_path / "model", "bert")
    edit_config(tmp_path / "model", model_type="gpt2", n_positions=LENGTH)
    with pytest.raises(GnomonError, match="no tensor of the names it goes by"):
        plan_tables(tmp_path / "model", config_of(tmp_path / "model"), to=TO)
