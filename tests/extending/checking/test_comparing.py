import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from gnomon.errors import GnomonError
from gnomon.extending.checking import Checked, check
from tests.helpers.byte_llama import (
    TRAINED,
    byte_llama,
    letters,
    save_byte_llama,
    save_letters,
    write_text,
)

LENGTHS = [16, 64, 150, 256]
EIGHT_TIMES = {"rope_type": "linear", "factor": 8.0, "rope_theta": 1000.0}
DYNAMIC = {"rope_type": "dynamic", "factor": 4.0, "rope_theta": 1000.0}


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_text(tmp_path_factory.mktemp("text") / "python.txt", 6000)


def in_memory(text: Path, rope: dict[str, Any] | None, longest: int, **more: Any) -> Checked:
    options = {"lengths": LENGTHS, "last": 24, "windows": 2048, "passkeys": 1, "tokenizer": letters}
    return check(byte_llama(), byte_llama(rope, longest), text, **{**options, **more})


def test_a_model_that_reads_short_rows_worse_is_found_out(text: Path) -> None:
    seen = in_memory(text, EIGHT_TIMES, 512)
    assert seen.worse
    at = {each.length: each for each in seen.lengths}
    assert (at[16].windows.direction, at[64].windows.direction) == (1, 1)
    worse = [sentence for sentence in seen.verdict if "short contexts got worse" in sentence]
    assert [sentence.split(",")[0].split(" the")[0] for sentence in worse] == ["At 16 tokens", "At 64 tokens"]


def test_nothing_is_said_against_a_model_that_reads_short_rows_as_before(text: Path) -> None:
    seen = in_memory(text, DYNAMIC, TRAINED)
    assert not seen.worse
    assert [at.windows.difference for at in seen.lengths if at.length <= TRAINED] == [0.0, 0.0]
    assert "worse" not in str(seen)
    assert all(at.windows.difference != 0.0 for at in seen.lengths if at.length > TRAINED)


def test_the_losses_are_those_of_the_model_itself_on_the_rows_of_the_text(text: Path) -> None:
    seen, ids = in_memory(text, EIGHT_TIMES, 512), torch.tensor(letters(text.read_text()))
    model = byte_llama(EIGHT_TIMES, 512)
    for at in seen.lengths:
        rows = ids[len(ids) - at.rows * at.length :].reshape(at.rows, at.length)
        with torch.no_grad():
            logits = model(rows).logits.double()
        expected = torch.nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), rows[:, 1:].flatten())
        assert at.windows.after == pytest.approx(float(expected), rel=1e-5)
        assert at.rows == max(1, 2048 // at.length)
        if at.length > seen.last:
            last = torch.nn.functional.cross_entropy(logits[-1, -25:-1], ids[-24:])
            assert at.last.after == pytest.approx(float(last), rel=1e-5)


def test_the_last_tokens_are_the_same_ones_at_every_length(text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from gnomon.extending.checking import measuring, scoring

    scored: dict[int, list[int]] = {}
    own = scoring.losses

    def watched(model: Any, words: Any, row: slice) -> np.ndarray:
        scored[row.stop - row.start] = words.ids[row].tolist()[-24:]
        return own(model, words, row)

    monkeypatch.setattr(measuring, "losses", watched)
    seen = in_memory(text, EIGHT_TIMES, 512)
    assert sorted(scored) == LENGTHS
    assert scored[64] == scored[150] == scored[256] == letters(text.read_text())[-24:]
    assert [at.length for at in seen.lengths if at.last.after is None] == [16]  # shorter than the last tokens
    gains = {at.length: at.gain for at in seen.lengths}
    assert (gains[16], gains[64]) == (None, None)
    by_length = {at.length: at for at in seen.lengths}
    assert gains[256] is not None
    assert (gains[256].before, gains[256].after) == (by_length[64].last.before, by_length[256].last.after)


def test_losses_by_place_average_to_the_loss_of_the_rows(text: Path) -> None:
    at = in_memory(text, EIGHT_TIMES, 512).lengths[-1]
    assert [(p.start, p.stop) for p in at.positions[:3]] == [(0, 8), (8, 16), (16, 32)]
    assert at.positions[-1].stop == at.length
    counts = [p.stop - p.start - (p.start == 0) for p in at.positions]  # the first token of a row has no loss
    mean = np.average([p.after or 0.0 for p in at.positions], weights=counts)
    assert mean == pytest.approx(at.windows.after)


def test_two_folders_are_compared_by_the_lengths_of_their_configs(tmp_path: Path, text: Path) -> None:
    before, after = save_byte_llama(tmp_path / "a"), save_byte_llama(tmp_path / "b", EIGHT_TIMES, 512)
    calls: list[tuple[int, int, str]] = []
    seen = check(before, after, text, passkeys=0, windows=512, progress=lambda *told: calls.append(told))
    assert [at.length for at in seen.lengths] == [16, 64, 181, 512]
    assert (seen.models.before, seen.models.after, seen.models.old, seen.models.new) == ("a", "b", TRAINED, 512)
    assert [read for read, _, _ in calls] == sorted(read for read, _, _ in calls)
    assert {total for _, total, _ in calls} == {seen.tokens}
    assert calls[0][2].startswith(f"the check of both models reads {seen.tokens:,} tokens: ")
    assert all("left" in what for _, _, what in calls[2:])


def test_the_same_seed_gives_the_same_numbers_and_they_are_plain_data(text: Path) -> None:
    one, two = (in_memory(text, EIGHT_TIMES, 512, lengths=[64, 450], passkeys=2) for _ in range(2))
    assert one == two
    assert json.loads(json.dumps(one.to_dict(), allow_nan=False))["lengths"][1]["length"] == 450
    assert [keys.length for keys in one.keys] == [450]  # 64 tokens are too few for keys
    assert one.keys[0].before is None
    assert one.keys[0].after is not None


def test_a_masked_model_whose_table_ends_is_not_run_beyond_it(tmp_path: Path, text: Path) -> None:
    folders = [masked(tmp_path / name, rows) for name, rows in (("a", 64), ("b", 128))]
    seen = check(folders[0], folders[1], text, lengths=[64, 128], windows=512)
    short, long = seen.lengths
    assert (seen.models.kind, short.windows.difference) == ("masked", 0.0)
    assert (long.windows.before, long.windows.after is not None) == (None, True)
    assert "a cannot run 128 tokens" in long.why
    assert any("At 128 tokens the loss is" in sentence for sentence in seen.verdict)


def test_an_encoder_is_compared_by_its_vectors(tmp_path: Path, text: Path) -> None:
    folders = [masked(tmp_path / name, rows, head=False) for name, rows in (("a", 128), ("b", 256))]
    seen = check(folders[0], folders[1], text, lengths=[128, 256])
    assert (seen.models.kind, seen.lengths, [at.length for at in seen.documents]) == ("encoder", (), [128, 256])
    assert all(short.lowest == pytest.approx(1.0, abs=1e-9) for short in seen.short)
    assert {short.length for short in seen.short} == {32, 128}
    assert seen.documents[0].found.difference == 0.0
    assert seen.documents[1].beyond is not None
    assert "cosine with parts" in str(seen)


def test_models_of_two_tokenizers_or_two_kinds_are_not_compared(tmp_path: Path, text: Path) -> None:
    one, other = masked(tmp_path / "a", 64), masked(tmp_path / "b", 64, head=False)
    with pytest.raises(GnomonError, match="a is masked and b is encoder"):
        check(one, other, text, lengths=[64])
    tokenizer = json.loads((other / "tokenizer.json").read_text())
    swap = tokenizer["model"]["vocab"]
    swap["a"], swap["b"] = swap["b"], swap["a"]
    (other / "tokenizer.json").write_text(json.dumps(tokenizer))
    with pytest.raises(GnomonError, match="splits the text in another way"):
        check(one, other, text, lengths=[64])


def test_numbers_that_are_not_finite_are_said_and_not_averaged(text: Path) -> None:
    broken = byte_llama()
    with torch.no_grad():
        broken.model.norm.weight[0] = torch.nan
    seen = check(byte_llama(), broken, text, lengths=[64], passkeys=1, tokenizer=letters)
    assert seen.lengths[0].windows.after is None
    assert "not finite at 64 tokens" in seen.verdict[0]
    assert not seen.worse


def masked(folder: Path, rows: int, *, head: bool = True) -> Path:
    """A BERT whose table has so many rows; those of the longer one repeat."""
    from transformers import BertConfig, BertForMaskedLM, BertModel

    torch.manual_seed(0)
    sizes = {"vocab_size": 260, "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = BertConfig(**sizes, intermediate_size=32, max_position_embeddings=rows)
    model: Any = (BertForMaskedLM if head else BertModel)(config)
    table = (model.bert if head else model).embeddings.position_embeddings.weight
    generator = torch.Generator().manual_seed(1)
    for name, parameter in model.named_parameters():
        if "position" not in name:
            parameter.data.normal_(std=0.2, generator=generator)
    table.data.copy_(torch.randn(32, 32, generator=generator).repeat(rows // 32, 1))
    model.save_pretrained(folder)
    save_letters(folder, special=True)
    return folder
