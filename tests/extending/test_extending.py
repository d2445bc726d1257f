"""`extend` on whole folders: real models that load again, files that limit a length, refusals."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

from gnomon.adapters.checkpoints.transformers_models import quiet_transformers
from gnomon.errors import GnomonError, UnsupportedTargetError
from gnomon.extending import Asked, Extended, Lists, extend, prepare
from gnomon.extending.extended import edits_between
from tests.helpers.rotary_folders import config_folder, read_config, tiny
from tests.helpers.tiny_gguf import llama_metadata, llama_tensors, write_gguf

LLAMA = tiny("llama", rope_theta=5e5)


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Llama with random weights, as transformers saves it; queries and keys large enough for positions to matter."""
    import transformers

    folder = tmp_path_factory.mktemp("real") / "llama"
    with quiet_transformers():
        torch.manual_seed(3)
        config = transformers.LlamaConfig(**{k: v for k, v in LLAMA.items() if k not in ("model_type", "rope_theta")})
        model = transformers.LlamaForCausalLM(config)
        for name, weight in model.named_parameters():
            if "q_proj" in name or "k_proj" in name:
                weight.data *= 20
        model.save_pretrained(folder)
    return folder


def _logits(folder: Path, length: int) -> torch.Tensor:
    import transformers

    with quiet_transformers(), torch.no_grad():
        model = transformers.LlamaForCausalLM.from_pretrained(folder).eval()
        ids = torch.arange(2 * length).reshape(2, length) % 31
        logits: torch.Tensor = model(ids).logits
    return logits


@pytest.mark.parametrize("method", ["dynamic", "longrope"])
def test_what_promises_short_contexts_as_they_were_keeps_them(real: Path, tmp_path: Path, method: str) -> None:
    extend(real, tmp_path / "b", to=256, method=method)
    for length in (17, 64):
        assert torch.equal(_logits(tmp_path / "b", length), _logits(real, length))
    assert not torch.allclose(_logits(tmp_path / "b", 100), _logits(real, 100), atol=1e-3)


@pytest.mark.parametrize("method", ["auto", "linear", "ntk", "yarn"])
def test_the_other_methods_change_short_contexts_and_say_so(real: Path, tmp_path: Path, method: str) -> None:
    done = extend(real, tmp_path / "b", to=256, method=method)
    assert not torch.allclose(_logits(tmp_path / "b", 40), _logits(real, 40), atol=1e-3)
    assert done.drawbacks


def test_a_block_of_factor_one_would_be_the_model_itself(real: Path, tmp_path: Path) -> None:
    """The other way round: the written config, with the factor put back, gives the old logits."""
    extend(real, tmp_path / "b", to=256, method="yarn")
    config = read_config(tmp_path / "b")
    for name in ("rope_scaling", "rope_parameters"):
        config[name]["factor"] = 1.0
    (tmp_path / "b" / "config.json").write_text(json.dumps(config))
    torch.testing.assert_close(_logits(tmp_path / "b", 40), _logits(real, 40))


def test_every_tensor_is_the_same_and_only_the_config_differs(real: Path, tmp_path: Path) -> None:
    done = extend(real, tmp_path / "b", to=256)
    names = sorted(path.name for path in real.iterdir())
    assert sorted(path.name for path in (tmp_path / "b").iterdir()) == names
    differing = [name for name in names if (real / name).read_bytes() != (tmp_path / "b" / name).read_bytes()]
    assert differing == ["config.json"]
    with safe_open(real / "model.safetensors", "pt") as old, safe_open(tmp_path / "b/model.safetensors", "pt") as new:
        held = sorted(old.keys())
        assert held == sorted(new.keys())
        assert all(torch.equal(old.get_tensor(name), new.get_tensor(name)) for name in held)
    assert (done.changed, done.untouched) == ((), len(held))


def test_the_files_beside_the_config_get_the_length_where_it_is_the_models(tmp_path: Path) -> None:
    source = config_folder(
        tmp_path / "a",
        LLAMA,
        tokenizer_config={"model_max_length": 64, "other": 1},
        generation_config={"max_length": 64, "top_p": 0.5},
        tokenizer={"truncation": {"max_length": 48, "stride": 0}, "model": {}},
    )
    done = extend(source, tmp_path / "b", to=256)
    assert read_config(tmp_path / "b", "tokenizer_config.json") == {"model_max_length": 256, "other": 1}
    assert read_config(tmp_path / "b", "generation_config.json") == {"max_length": 256, "top_p": 0.5}
    assert read_config(tmp_path / "b", "tokenizer.json")["truncation"] == {"max_length": 256, "stride": 0}
    assert "The tokenizer cuts at 256 tokens instead of 64." in done.words


def test_limits_that_are_somebodys_wish_stay(tmp_path: Path) -> None:
    source = config_folder(
        tmp_path / "a",
        LLAMA,
        tokenizer_config={"model_max_length": 1e30},
        generation_config={"max_length": 20},
    )
    extend(source, tmp_path / "b", to=256)
    assert read_config(tmp_path / "b", "tokenizer_config.json") == {"model_max_length": 1e30}
    assert read_config(tmp_path / "b", "generation_config.json") == {"max_length": 20}


def test_preparing_says_all_and_writes_nothing(tmp_path: Path) -> None:
    source = config_folder(tmp_path / "a", LLAMA)
    before = {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in source.iterdir()}
    shown = prepare(source, Asked(256, "ntk")).shown
    assert shown.output is None
    assert {edit.key: edit.after for edit in shown.edits["config.json"]} == {
        "max_position_embeddings": 256,
        "rope_theta": pytest.approx(5e5 * 4 ** (16 / 14)),
    }
    stacks = {row.stack.partition("@")[0]: row.verdict for row in shown.stacks}
    assert stacks["hf5"] == "reference"
    assert stacks["vllm"] == "equal"
    assert list(tmp_path.iterdir()) == [source]
    assert {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in source.iterdir()} == before
    text = str(shown)
    assert text.startswith("nothing is written yet: ")
    assert "no scaling block is needed" in " ".join(text.split())
    assert json.loads(json.dumps(shown.to_dict()))["stacks"][0]["verdict"] == "reference"


def test_tables_are_stretched_by_the_same_call(tmp_path: Path) -> None:
    config = {"model_type": "bert", "hidden_size": 8, "num_attention_heads": 2, "max_position_embeddings": 16}
    source = tmp_path / "a"
    source.mkdir()
    (source / "config.json").write_text(json.dumps({**config, "num_hidden_layers": 1, "vocab_size": 9}))
    table = torch.randn(16, 8, generator=torch.Generator().manual_seed(1))
    words = torch.ones(9, 8)
    name = "embeddings.position_embeddings.weight"
    save_file({name: table, "embeddings.word_embeddings.weight": words}, source / "model.safetensors")
    done = extend(source, tmp_path / "b", to=31, method="interpolate")
    with safe_open(tmp_path / "b" / "model.safetensors", "pt") as held:
        longer, same = held.get_tensor(name), held.get_tensor("embeddings.word_embeddings.weight")
    torch.testing.assert_close(longer[::2], table)  # 31 rows: each old one, and one between each two
    torch.testing.assert_close(longer[1::2], (table[1:] + table[:-1]) / 2)
    assert torch.equal(same, words)
    assert (done.changed, done.untouched, done.method) == ((name,), 1, "interpolate")
    assert read_config(tmp_path / "b")["max_position_embeddings"] == 31


@pytest.mark.parametrize(
    ("config", "key"),
    [(tiny("mpt", max_seq_len=64, attn_config={"alibi": True}), "max_seq_len"), (tiny("xlnet"), None)],
)
def test_encodings_without_an_end_change_stated_lengths_only(
    tmp_path: Path, config: dict[str, Any], key: str | None
) -> None:
    source = config_folder(tmp_path / "a", config)
    done = extend(source, tmp_path / "b", to=256)
    assert done.changed == ()
    assert done.method == "lengths"
    assert any("so only stated lengths change" in word for word in done.words)
    if key:
        assert read_config(tmp_path / "b")[key] == 256


REFUSED = [
    (LLAMA, {"to": 256, "method": "interpolate"}, "stretches tables, and this model turns its queries and keys"),
    (LLAMA, {"to": 256, "method": "stretch"}, "'stretch' is no method; there are auto, linear"),
    (LLAMA, {"to": 32}, "--to must be longer, got 32"),
    (LLAMA, {"to": 256, "lists": Lists((1.0,) * 3, (2.0,) * 3)}, "3 numbers, and 8 pairs of the model turn"),
    (tiny("mpt", max_seq_len=64, attn_config={"alibi": True}), {"to": 64}, "states 64 tokens already"),
    (
        tiny("mpt", max_seq_len=64, attn_config={"alibi": True}),
        {"to": 256, "method": "yarn"},
        "ALiBi; --method yarn is for rotary models; give auto",
    ),
    (tiny("nobodys"), {"to": 256}, "is not one gnomon knows"),
]


@pytest.mark.parametrize(("config", "asked", "said"), REFUSED)
def test_what_cannot_be_done_is_one_sentence_and_leaves_nothing(
    tmp_path: Path, config: dict[str, Any], asked: dict[str, Any], said: str
) -> None:
    source = config_folder(tmp_path / "a", config)
    with pytest.raises(GnomonError) as error:
        extend(source, tmp_path / "b", **asked)
    assert said in str(error.value)
    assert list(tmp_path.iterdir()) == [source]


def test_targets_that_are_none_are_named(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file.txt").write_text("x")
    for name, said in (
        ("empty", "save the model as safetensors first"),
        ("missing", "There is no checkpoint folder and no .gguf file"),
        ("file.txt", "There is no checkpoint folder and no .gguf file"),
        ("x" * 5000, "There is no checkpoint folder"),
        ("null\0byte", "There is no checkpoint folder"),
    ):
        with pytest.raises(UnsupportedTargetError, match=said):
            extend(tmp_path / name, tmp_path / "b", to=256)


def test_gguf_files_of_a_folder_are_extended_on_request(tmp_path: Path) -> None:
    source = config_folder(tmp_path / "a", {**LLAMA, "max_position_embeddings": 48})
    write_gguf(source / "model.gguf", "llama", llama_metadata(), llama_tensors())
    assert extend(source, tmp_path / "b", to=192).left_behind == ("model.gguf",)
    done = prepare(source, Asked(192, gguf=True)).write(tmp_path / "c")
    assert done.left_behind == ()
    import gguf

    fields = gguf.GGUFReader(tmp_path / "c" / "model.gguf").fields
    assert fields["llama.rope.scaling.factor"].contents() == 4.0
    assert sorted(path.name for path in (tmp_path / "c").iterdir()) == [
        "config.json",
        "model.gguf",
        "model.safetensors",
    ]


def test_a_gguf_file_that_cannot_be_extended_stops_the_whole_before_it_begins(tmp_path: Path) -> None:
    source = config_folder(tmp_path / "a", {**LLAMA, "max_position_embeddings": 48})
    lists = {"rope_freqs.weight": np.linspace(1, 9, 8, dtype=np.float32)}
    write_gguf(source / "model.gguf", "llama", llama_metadata(), llama_tensors() | lists)
    with pytest.raises(GnomonError, match="follow from no rule"):
        prepare(source, Asked(192, gguf=True))


def test_numbers_that_are_not_finite_are_null_in_json() -> None:
    edits = {"config.json": edits_between({"a": 1.0}, {"a": float("inf")})}
    told = Extended(Path("a"), None, 256, "yarn", edits=edits).to_dict()
    assert told["edits"]["config.json"] == [{"key": "a", "before": 1.0, "after": None}]
    assert (told["schema_version"], told["source"]) == (1, "a")


def test_lists_of_a_search_are_what_is_written(tmp_path: Path) -> None:
    lists = Lists((1.0,) * 8, tuple(1.0 + i for i in range(8)), 1.125)
    extend(config_folder(tmp_path / "a", LLAMA), tmp_path / "b", to=256, lists=lists)
    block = read_config(tmp_path / "b")["rope_parameters"]
    assert (block["rope_type"], block["long_factor"], block["attention_factor"]) == (
        "longrope",
        list(lists.long),
        1.125,
    )


def test_edits_name_each_key_once_by_its_path() -> None:
    edits = edits_between({"a": {"b": 1, "c": [1]}, "d": 1}, {"a": {"b": 1.0, "c": [2]}, "e": {"f": 1}})
    assert [(edit.key, edit.before, edit.after) for edit in edits] == [
        ("a.b", 1, 1.0),
        ("a.c", [1], [2]),
        ("e", None, {"f": 1}),
        ("d", 1, None),
    ]


def test_an_extension_in_words_says_what_was_left_and_shows_long_values_whole() -> None:
    done = Extended(Path("a"), Path("b"), 256, "longrope", ("w",), ("d",), {}, (), (), 3, "f" * 64, ("x.bin",))
    text = str(done)
    assert text.startswith("wrote b: a for 256 tokens, by longrope\n")
    assert "tensors untouched: 3 (SHA-256 ffffffffffffffff)" in text
    assert "left behind: x.bin" in text
    shown = Extended(Path("a"), None, (3, 4), "tables", edits={"config.json": edits_between({}, {"l": [1.0] * 99})})
    assert "for 3x4 patches (height x width)" in str(shown)
    assert str(shown).count("1.0") == 99
    block = {"rope_type": "longrope", "long_factor": [1.25] * 99, "short": None}
    shown = Extended(Path("a"), None, 9, "x", edits={"config.json": edits_between({"r": [2.5] * 40}, {"r": block})})
    text = str(shown)
    before, _, after = text.partition("  r:\n")[2].partition("\n  ->\n")
    assert json.loads(before) == [2.5] * 40
    assert json.loads(after) == block
    assert max(map(len, text.splitlines())) <= 118
