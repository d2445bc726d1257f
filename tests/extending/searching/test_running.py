import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from gnomon.errors import GnomonError
from gnomon.extending.searching import Searched, search
from tests.helpers.byte_llama import TRAINED, byte_llama, letters, save_byte_llama, write_text
from tests.helpers.tiny_transformers import tiny_model

TO = 256


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_text(tmp_path_factory.mktemp("text") / "python.txt", 20_000)


def found(text: Path, model: Any = None, **more: Any) -> Searched:
    options = {"to": TO, "budget": 20, "rows": 4, "tokenizer": letters}
    return search(model or byte_llama(), text, **{**options, **more})


@pytest.fixture(scope="module")
def one(text: Path) -> Searched:
    return found(text)


def loss_as_loaded(block: dict[str, Any] | None, ids: torch.Tensor) -> float:
    """By a model that transformers makes from the block, on rows (B, S)."""
    with torch.no_grad():
        logits = byte_llama(block, TO)(ids).logits.double()
    return float(torch.nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten()))


def test_losses_are_those_of_models_that_are_loaded_with_the_rule(text: Path, one: Searched) -> None:
    ids = torch.tensor(letters(text.read_text())[-8 * TO :]).reshape(8, TO)
    seen, unseen = ids[:4], ids[4:]
    base = {"rope_theta": 1000.0}
    yarn = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": TRAINED}
    lists = {"long_factor": list(one.long_factor), "short_factor": [1.0] * 8}
    long = {**yarn, "rope_type": "longrope", **lists}
    linear = {"rope_type": "linear", "factor": 4.0}
    plain = {"rope_type": "default"}
    assert one.baselines["unscaled"] == pytest.approx(loss_as_loaded({**base, **plain}, unseen), rel=1e-5)
    assert one.baselines["linear"] == pytest.approx(loss_as_loaded({**base, **linear}, unseen), rel=1e-5)
    assert one.baselines["yarn"] == pytest.approx(loss_as_loaded({**base, **yarn}, unseen), rel=1e-5)
    assert one.change.after == pytest.approx(loss_as_loaded({**base, **long}, unseen), rel=1e-5)
    assert min(one.history) == pytest.approx(loss_as_loaded({**base, **long}, seen), rel=1e-5)
    assert one.change.before == min(one.baselines.values())


def test_it_gets_better_than_where_it_started_and_the_list_is_one_of_longrope(one: Searched) -> None:
    assert min(one.history) < min(one.history[:3])
    assert (np.diff(one.long_factor) >= 0).all()
    # The fastest pairs turn many times in the rows that the model knows: to slow them four times costs much.
    assert one.long_factor[0] < 2.5 < one.long_factor[-1]
    assert one.short_factor == (1.0,) * 8
    assert one.attention_factor == pytest.approx((1 + np.log(4) / np.log(TRAINED)) ** 0.5)


def test_the_cost_is_what_was_read(one: Searched) -> None:
    assert (len(one.history), one.cost.evaluations, one.cost.tokens, one.cost.seed) == (20, 25, 25 * 4 * TO, 0)


def test_the_same_seed_gives_the_same_lists(text: Path, one: Searched) -> None:
    assert found(text) == one
    assert found(text, seed=1, budget=8).long_factor != one.long_factor


def test_a_folder_is_searched_in_shorter_rows_than_it_is_for_and_that_is_said(tmp_path: Path, text: Path) -> None:
    folder, calls = save_byte_llama(tmp_path / "model"), list[tuple[int, int, str]]()
    seen = found(text, folder, length=100, rows=2, budget=5, tokenizer=None, progress=lambda *told: calls.append(told))
    assert (seen.lengths.original, seen.lengths.to, seen.lengths.measured) == (TRAINED, TO, 100)
    assert "Lists were tried on rows of 100 tokens, not 256" in seen.verdict[-1]
    assert calls[0][:2] == (0, 10 * 200)
    assert json.loads(json.dumps(seen.to_dict(), allow_nan=False))["cost"]["evaluations"] == 10
    assert "long_factor: " in str(seen)


def test_what_cannot_be_searched_is_refused_in_a_sentence(text: Path, tmp_path: Path) -> None:
    with pytest.raises(GnomonError, match="trained on 64 tokens; give to as a whole number above, got 64"):
        found(text, to=64)
    with pytest.raises(GnomonError, match="give length as a whole number above, got 50"):
        found(text, length=50)
    with pytest.raises(GnomonError, match="needs budget of 4 or more, got 3"):
        found(text, budget=3)
    with pytest.raises(GnomonError, match="has 20000 tokens, too few to measure on; give one of 40960 or more"):
        found(text, rows=80)
    with pytest.raises(GnomonError, match="is encoder"):
        found(text, tiny_model("llama", vocab_size=256))
