"""The small files of an extended folder: what is no text in UTF-8 is written as it was."""

import json
from pathlib import Path

from gnomon.extending import extend
from tests.helpers.rotary_folders import config_folder, read_config, tiny

LLAMA = tiny("llama", rope_theta=5e5)


def test_half_of_a_pair_of_surrogates_is_written_as_it_was(tmp_path: Path) -> None:
    odd = {**LLAMA, "_name": chr(0xD800), "other": chr(0xFC)}
    tokenizer = {"model_max_length": 64, "name": chr(0xDFFF)}
    source = config_folder(tmp_path / "a", odd, tokenizer_config=tokenizer)
    (source / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 64, "x": chr(0xD800)}))
    extend(source, tmp_path / "b", to=256)
    assert read_config(tmp_path / "b")["_name"] == chr(0xD800)
    assert read_config(tmp_path / "b", "tokenizer_config.json") == {**tokenizer, "model_max_length": 256}
    assert read_config(tmp_path / "b", "sentence_bert_config.json") == {"max_seq_length": 256, "x": chr(0xD800)}
