"""Modules in memory: what is found in them, and that they are left as they were."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from gnomon.adapters import load_subject
from gnomon.adapters.subject import MissingEvidence
from gnomon.encodings.base import build
from gnomon.errors import GnomonError, UnsupportedTargetError
from tests.helpers.tiny_transformers import LENGTH, WIDTH, tiny_model


class Mixed(nn.Module):
    """One tensor of every kind that a module can hold."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(7, 4, padding_idx=0)
        self.frozen = nn.Parameter(torch.ones(3), requires_grad=False)
        self.register_buffer("kept", torch.arange(2))
        self.register_buffer("derived", torch.ones(5, 4), persistent=False)
        self.plain = torch.full((2, 2), 3.0)
        self.register_buffer("turns", torch.polar(torch.ones(2), torch.ones(2)), persistent=False)
        self.dropout = nn.Dropout(0.5)

    def forward(self, tokens: Tensor, mask: Tensor | None = None) -> Tensor:
        x: Tensor = self.dropout(self.words(tokens))
        return x if mask is None else x * mask[..., None]


def test_tensors_of_every_kind_are_listed_with_their_role() -> None:
    infos = {i.name: (i.role, i.persistent, i.trainable, i.shape) for i in load_subject(Mixed()).tensors}
    assert infos == {
        "words.weight": ("parameter", True, True, (7, 4)),
        "frozen": ("parameter", True, False, (3,)),
        "kept": ("buffer", True, False, (2,)),
        "derived": ("buffer", False, False, (5, 4)),
        "turns": ("buffer", False, False, (2,)),
        "plain": ("unknown", False, False, (2, 2)),
    }
    tensors = load_subject(Mixed()).tensors
    assert tensors.load("plain").tolist() == [[3.0, 3.0], [3.0, 3.0]]
    assert tensors.info("kept").dtype == "int64"
    with pytest.raises(KeyError):
        tensors.load("absent")


def test_what_is_examined_is_a_copy_in_eval_mode_and_float32() -> None:
    module = Mixed().half().train()
    subject = load_subject(module)
    assert subject.module is not module
    assert not subject.module.training
    assert next(subject.module.parameters()).dtype == torch.float32
    assert module.training
    assert module.words.weight.dtype == torch.float16
    assert subject.tensors.info("words.weight").dtype == "float16"


def test_a_cast_keeps_complex_tables_complex() -> None:
    copied: Any = load_subject(Mixed(), dtype="bfloat16").module
    assert copied.words.weight.dtype == torch.bfloat16
    assert copied.turns.dtype == torch.complex64
    assert copied.turns.imag.abs().min() > 0.8


def test_token_ids_are_drawn_without_padding_under_the_name_of_the_argument() -> None:
    example = load_subject(Mixed()).example
    assert set(example) == {"tokens"}
    assert example["tokens"].shape == (2, 12)
    assert example["tokens"].dtype == torch.int64
    assert set(example["tokens"].flatten().tolist()) <= {1, 2, 3, 4, 5, 6}


@pytest.mark.parametrize("given", [(torch.ones(3, 5).long(), torch.ones(3, 5)), {"tokens": torch.ones(3, 5).long()}])
def test_an_example_of_the_user_is_bound_to_the_arguments_of_forward(given: Any) -> None:
    subject = load_subject((Mixed(), given))
    assert list(subject.example) == ["tokens", "mask"][: len(given)]
    assert subject.module(**subject.example).shape == (3, 5, 4)


def test_an_example_that_does_not_fit_forward_is_one_sentence() -> None:
    with pytest.raises(UnsupportedTargetError, match=r"does not fit Mixed\.forward: too many positional arguments"):
        load_subject((Mixed(), (1, 2, 3)))
    with pytest.raises(UnsupportedTargetError, match=r"must give an nn.Module or \(module, tuple or dict\)"):
        load_subject((Mixed(), 3))


def test_a_module_without_tokens_or_claims_says_what_is_missing() -> None:
    subject = load_subject(nn.Linear(2, 2))
    with pytest.raises(MissingEvidence, match=r"no nn\.Embedding to draw token ids for; pass \(module, example\)"):
        _ = subject.example
    with pytest.raises(MissingEvidence, match="neither a Hugging Face config nor a gnomon encoding"):
        _ = subject.claims
    with pytest.raises(MissingEvidence, match="no Hugging Face config"):
        _ = subject.config
    assert not subject.trained


def test_a_module_that_cannot_be_copied_is_missing_evidence() -> None:
    module = Mixed()
    vars(module)["generator"] = (i for i in range(3))
    with pytest.raises(MissingEvidence, match="cannot be copied: TypeError"):
        _ = load_subject(module).module
    assert load_subject(module).tensors.load("frozen").tolist() == [1.0, 1.0, 1.0]


def test_a_module_on_the_meta_device_has_shapes_but_no_values() -> None:
    with torch.device("meta"):
        module = Mixed()
    subject = load_subject(module)
    assert subject.tensors.info("words.weight").shape == (7, 4)
    with pytest.raises(MissingEvidence, match="meta device"):
        subject.tensors.load("words.weight")
    with pytest.raises(MissingEvidence, match="meta device"):
        _ = subject.module


def test_a_transformers_module_brings_its_config_and_claims() -> None:
    subject = load_subject(tiny_model("gpt_neox"))
    [claim] = subject.claims
    assert (claim.options["rotary_dim"], claim.options["layout"]) == (4, "half")
    assert subject.config["max_position_embeddings"] == LENGTH
    assert subject.get("family").layout == "half"
    assert subject.module(**subject.example)[0].shape == (2, 12, WIDTH)


class Stack(nn.Module):
    """A model of gnomon encodings: a table on the embeddings, a rotation in each layer."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(9, 8)
        self.table = build("learned", max_length=6, dim=8, padding_offset=1)
        self.layers = nn.ModuleList(build("rotary", head_dim=4, layout="interleaved") for _ in range(3))


def test_gnomon_encodings_inside_are_claims_each_said_once() -> None:
    learned, rotary = load_subject(Stack()).claims
    assert (learned.kind, learned.where) == ("learned", "embeddings")
    assert (learned.options["max_length"], learned.options["padding_offset"]) == (6, 1)
    assert learned.keys["max_length"] == "table.options"
    assert learned.table_names == (r"^table\.weight$",)
    assert (rotary.kind, rotary.where) == ("rotary", "layers.*.attention")
    assert (rotary.options["head_dim"], rotary.options["layout"]) == (4, "interleaved")


@pytest.mark.parametrize("dtype", ["int8", "float8", torch.int64])
def test_a_dtype_that_models_are_not_run_in_is_one_sentence(dtype: str | torch.dtype) -> None:
    with pytest.raises(GnomonError, match=r"No dtype .*; a model is examined in one of float32"):
        load_subject(Mixed(), dtype=dtype)


def test_a_device_that_is_not_there_is_one_sentence() -> None:
    with pytest.raises(GnomonError, match="The device 'warp' cannot be used here") as caught:
        load_subject(Mixed(), device="warp")
    assert "\n" not in str(caught.value)


class Broken:
    """A config that cannot be read."""

    def to_dict(self) -> None:
        raise RuntimeError("not today")


def test_a_config_that_cannot_be_read_is_no_config() -> None:
    module = Mixed()
    vars(module)["config"] = Broken()
    with pytest.raises(MissingEvidence, match="no Hugging Face config"):
        _ = load_subject(module).config


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forward_without_a_signature_is_missing_evidence() -> None:
    traced: Any = torch.jit.trace(nn.Embedding(7, 4), torch.ones(2, 3).long())
    for name in ("module", "example"):
        with pytest.raises(MissingEvidence, match="has no readable signature; give the Python module"):
            load_subject(traced).get(name)
    with pytest.raises(UnsupportedTargetError, match="no readable signature"):
        load_subject((traced, (torch.ones(2, 3).long(),)))


def test_the_meta_device_is_refused() -> None:
    with pytest.raises(GnomonError, match="'meta' holds no values"):
        load_subject(Mixed(), device="meta")
