"""Models with biases by distance: nothing is resized, and what happens at longer inputs is said."""

from pathlib import Path
from typing import Any

import pytest

from gnomon.encodings.t5 import reference_bucket
from gnomon.errors import GnomonError
from gnomon.extending.tables import plan_tables
from gnomon.extending.tables.relative import relative_parts
from tests.helpers.extended_folder import config_of, saved
from tests.helpers.tiny_transformers import T5

CONFIG: dict[str, Any] = {"model_type": "t5", "num_heads": 4, "relative_attention_num_buckets": 32}


def test_t5_needs_no_rows_and_only_the_tokenizer_changes(tmp_path: Path) -> None:
    saved(tmp_path / "model", "t5", **T5)
    plan = plan_tables(tmp_path / "model", config_of(tmp_path / "model"), to=2048)
    assert plan is not None
    assert not plan.tensors
    assert not plan.config
    assert plan.tokenizer == {"model_max_length": 2048}


@pytest.mark.parametrize("reach", [128, 90])
def test_the_distance_of_the_last_bucket_is_that_of_the_published_rule(reach: int) -> None:
    config = {**CONFIG, "relative_attention_max_distance": reach}
    parts = list(relative_parts(config, 2048, "auto", alone=True))
    for part, direction in zip(parts, ("both", "causal"), strict=True):
        last = 31 if direction == "causal" else 15
        first = next(d for d in range(reach + 1) if reference_bucket(-d, 32, reach, direction) == last)
        assert f"From distance {first:,} on" in part.words[0]
        exact = 16 if direction == "causal" else 8
        assert f"most distances from {exact} on" in part.words[1]
        rows = [[reference_bucket(-d, 32, far, direction) for d in range(40)] for far in (reach, 10**6)]
        own = [one == other for one, other in zip(*rows, strict=True)]
        assert all(own[:exact])
        assert not all(own[exact:])


def test_short_of_the_last_bucket_that_is_said() -> None:
    [encoder, _] = relative_parts(CONFIG, 50, "auto", alone=True)
    assert "inputs of 50 do not come so far" in encoder.words[0]


@pytest.mark.parametrize("method", ["interpolate", "tile", "keep-first", "hierarchical"])
def test_buckets_are_never_interpolated(tmp_path: Path, method: str) -> None:
    saved(tmp_path / "model", "t5", **T5)
    with pytest.raises(GnomonError, match="biases by distance and no row for each position"):
        plan_tables(tmp_path / "model", config_of(tmp_path / "model"), to=2048, method=method)


def test_a_vector_for_each_distance_is_refused() -> None:
    config = {"model_type": "bert", "position_embedding_type": "relative_key", "max_position_embeddings": 512}
    with pytest.raises(GnomonError, match="relative_key"):
        list(relative_parts(config, 2048, "auto", alone=True))


def test_deberta_says_where_its_distances_end() -> None:
    config = {"model_type": "deberta-v2", "relative_attention": True, "max_position_embeddings": 512}
    [part] = relative_parts(config, 2048, "auto", alone=True)
    assert part.words == ("DeBERTa's distances are cut at 512; 2,048 positions need no new rows.",)
    [part] = relative_parts(config | {"position_buckets": 256}, 2048, "auto", alone=True)
    assert "distances from 512 on share the last bucket" in part.words[0]
