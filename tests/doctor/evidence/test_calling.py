"""How a model nobody described is called: arguments, masks, lengths, and models that cannot be called."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from gnomon.adapters.subject import MissingEvidence
from gnomon.doctor.evidence.calling import model, untouched_model
from gnomon.doctor.evidence.conventions import MaskForm, mask_form, sequence_first
from gnomon.doctor.evidence.signature import Signature, main_output, read_signature
from gnomon.encodings import Rotary
from tests.helpers.healthy import FOREIGN, decoder
from tests.helpers.tiny_transformers import tiny_model
from tests.helpers.toys import VOCABULARY, Toy, llama, subject_of

IDS = torch.randint(5, 40, (2, 12), generator=torch.Generator().manual_seed(0))


def failure(target: Any) -> str:
    with pytest.raises(MissingEvidence) as caught:
        model(subject_of(target))
    return str(caught.value)


def test_the_names_of_hugging_face_arguments_are_understood() -> None:
    found = read_signature(FOREIGN["llama"](), {"input_ids": IDS})
    assert found == Signature("input_ids", "attention_mask", "position_ids", "cache", True)


def test_the_names_of_our_own_arguments_are_understood() -> None:
    found = read_signature(decoder(Rotary(8)), {"ids": IDS})
    assert found == Signature("ids", "attention_mask", "positions", "cache", False)


def test_an_example_without_a_batch_has_nothing_to_vary() -> None:
    with pytest.raises(MissingEvidence, match=r"no token ids \(batch, sequence\)"):
        read_signature(Toy(), {"tokens": torch.arange(5)})


def test_the_subject_s_own_module_is_never_changed() -> None:
    toy = Toy()
    subject = subject_of(toy)
    before = {name: tensor.clone() for name, tensor in subject.module.state_dict().items()}
    probe = model(subject)
    assert not torch.equal(probe.module.state_dict()["layers.0.qkv.weight"], before["layers.0.qkv.weight"])  # redrawn
    assert all(torch.equal(tensor, before[name]) for name, tensor in subject.module.state_dict().items())
    assert torch.equal(
        untouched_model(subject).module.state_dict()["layers.0.qkv.weight"], before["layers.0.qkv.weight"]
    )


def test_trained_weights_are_not_redrawn() -> None:
    subject = subject_of(Toy(), trained=True)
    assert torch.equal(model(subject).module.get_parameter("layers.0.qkv.weight"), Toy().layers[0].qkv.weight)  # type: ignore[union-attr,arg-type]


def test_drawn_ids_are_in_the_vocabulary_and_avoid_special_tokens() -> None:
    ids = model(subject_of(Toy())).draw(3, 200)
    assert ids.shape == (3, 200)
    assert int(ids.min()) >= 5
    assert int(ids.max()) < VOCABULARY
    assert set(model(subject_of(Toy(vocabulary=3))).draw(3, 50).unique().tolist()) == {1, 2}


def test_vectors_are_drawn_for_a_model_that_takes_them() -> None:
    probe = model(subject_of((nn.Linear(6, 4), (torch.randn(2, 5, 6),))))
    assert not probe.takes_ids
    assert probe(probe.draw(3, 7)).shape == (3, 7, 4)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda y: (y, None),
        lambda y: {"count": 3, "out": y},
        lambda y: [torch.zeros(1, dtype=torch.int64), y],
        lambda y: {"hidden": y * 0, "logits": y} and {"logits": y},
    ],
)
def test_the_output_is_found_in_tuples_dicts_and_lists(wrap: Callable[[Tensor], Any]) -> None:
    y = torch.randn(2, 3, 4)
    assert main_output(wrap(y)) is y


def test_logits_win_over_hidden_states() -> None:
    result = FOREIGN["llama"]()(IDS, output_hidden_states=True)
    assert main_output(result) is result.logits


def test_a_forward_without_a_float_tensor_is_told_so() -> None:
    with pytest.raises(MissingEvidence, match="forward returned NoneType without a float tensor"):
        main_output(None)


def test_arguments_of_the_example_that_the_forward_needs_follow_batch_and_length() -> None:
    class Segments(Toy):
        def forward(self, tokens: Tensor, segments: Tensor, scale: float, heads: Tensor) -> Tensor:  # type: ignore[override]
            assert segments.shape == tokens.shape
            assert heads.shape == (len(tokens), 3)
            return super().forward(tokens) * scale

    probe = model(subject_of((Segments(), (IDS, torch.zeros(2, 12), 2.0, torch.zeros(2, 3)))))
    assert probe(probe.draw(3, 5)).shape == (3, 5, 32)


def test_arguments_that_the_forward_does_not_need_are_left_out() -> None:
    class Labelled(Toy):
        def forward(self, tokens: Tensor, labels: Tensor | None = None) -> Tensor:  # type: ignore[override]
            assert labels is None
            return super().forward(tokens)

    assert model(subject_of((Labelled(), {"tokens": IDS, "labels": IDS}))).limit >= 29


def test_positions_that_the_forward_insists_on_are_counted_when_none_are_passed() -> None:
    class Insists(Toy):
        def forward(self, tokens: Tensor, positions: Tensor) -> Tensor:  # type: ignore[override]
            return super().forward(tokens, None, positions)

    probe = model(subject_of((Insists(), (IDS, torch.arange(12).expand(2, -1)))))
    content = probe.draw(2, 7)
    torch.testing.assert_close(probe(content), probe(content, positions=torch.arange(7).expand(2, -1)))


def test_an_encoder_decoder_runs_with_the_decoder_tokens_of_its_example() -> None:
    probe = model(subject_of(tiny_model("t5")))
    assert probe(probe.draw(3, 5)).shape[0] == 3


@pytest.mark.parametrize(
    ("model_or_pair", "reason"),
    [
        ((nn.Identity(), (torch.randn(1, 2, 3, 4, 5, 6),)), "shapes (1, 2, 3, 4, 5, 6)"),
        ((nn.Identity(), (IDS,)), "forward returned Tensor without a float tensor"),
        (nn.Linear(4, 4), "no nn.Embedding"),
    ],
)
def test_a_model_that_cannot_be_run_says_why(model_or_pair: Any, reason: str) -> None:
    assert reason in failure(model_or_pair)


def test_outputs_that_are_not_numbers_are_no_evidence() -> None:
    class Broken(Toy):
        def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
            return super().embed(tokens, ids) * float("nan")

    assert failure(Broken()) == "the forward gives NaN or infinite outputs"


def test_rows_that_mix_and_places_that_mix_are_not_sequence_first() -> None:
    content, before = torch.zeros(2, 4), torch.zeros(2, 4, 3)
    after = before.clone()
    after[1, -1] = 1
    assert sequence_first(content, before + 1, after + 1)
    after[0, 0] = 1
    assert not sequence_first(content, before + 1, after + 1)
    assert not sequence_first(content, before[0, 0], before[0, 0])


@pytest.mark.parametrize("rows", [1, 2, 7, 24])
def test_lengths_are_tried_where_nothing_states_them(rows: int) -> None:
    probe = model(subject_of((Toy(rows=rows), (torch.zeros(2, 1, dtype=torch.int64),))))
    assert rows / 2 < probe.length(29) <= rows


def test_stated_limits_are_believed() -> None:
    probe = model(subject_of(llama(max_position_embeddings=11)))
    assert (probe.length(29), probe.limit, probe.furthest) == (11, 11, 11)


def test_position_ids_stay_inside_a_table() -> None:
    probe = model(subject_of(Toy(rows=20)))
    assert 10 <= probe.reach(probe.furthest) <= 20
    assert model(subject_of(llama(max_position_embeddings=4096))).reach(1000) == 1000


@pytest.mark.parametrize(
    ("read", "expected"),
    [
        (lambda mask: mask.bool(), MaskForm(torch.bool, 1)),
        (lambda mask: ~mask, MaskForm(torch.bool, 0)),
        (lambda mask: 1 - (1 - mask), MaskForm(torch.int64, 1)),
        (lambda mask: 1 - mask, MaskForm(torch.int64, 0)),
    ],
)
def test_the_sense_and_dtype_of_a_mask_are_found_by_trying(
    read: Callable[[Tensor], Tensor], expected: MaskForm
) -> None:
    plain = torch.ones(2, 3, 4)
    found = mask_form("mask", plain, lambda mask: plain * read(mask).bool()[..., None], torch.ones(2, 3))
    assert found == expected
    assert found.of(torch.tensor([[1, 1, 0]])).dtype is expected.dtype
    assert found.of(torch.tensor([[1, 1, 0]]))[0, -1] == 1 - expected.real


def test_a_mask_of_another_shape_is_left_alone() -> None:
    class Square(Toy):
        def forward(self, tokens: Tensor, mask: Tensor | None = None) -> Tensor:  # type: ignore[override]
            if mask is not None and mask.shape[0] != mask.shape[1]:
                raise ValueError("mask is (S, S)")
            return super().forward(tokens)

    assert model(subject_of(Square())).signature.mask is None


def test_what_the_forward_does_not_take_is_told() -> None:
    probe = model(subject_of(FOREIGN["bloom"]()))
    with pytest.raises(MissingEvidence, match=r"the forward takes no position ids \(batch, sequence\)"):
        probe(probe.draw(2, 5), positions=torch.arange(5)[None])


def test_a_cast_copy_leaves_the_probe_alone() -> None:
    probe = model(subject_of(Toy()))
    cast = probe.cast(torch.bfloat16)
    assert cast(probe.draw(2, 5)).dtype is torch.bfloat16
    assert probe(probe.draw(2, 5)).dtype is torch.float32
