"""Towers that a forward leaves alone, and tables that start at zero."""

import torch
from torch import Tensor, nn

from gnomon.doctor.evidence.idle import is_idle, running_position_tables, starts_at_zero
from tests.helpers.healthy_plain import PLAIN
from tests.helpers.healthy_transformers import ROWS
from tests.helpers.toys import Toy, examine, subject_of


class NeverCalled(Toy):
    """A module of positions that the forward forgets: it stands in a part that is run."""

    def __init__(self) -> None:
        super().__init__()
        self.encoding = nn.Embedding(64, 32)

    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        x: Tensor = self.words(tokens)
        return x


def test_the_image_tower_of_a_model_that_is_given_text_is_idle() -> None:
    subject = subject_of(ROWS["LlavaForConditionalGeneration"].build())
    assert is_idle(subject, "model.vision_tower.embeddings.position_embedding.weight")
    assert not is_idle(subject, "model.language_model.layers.0.self_attn.q_proj.weight")
    assert running_position_tables(subject) == ()


def test_an_encoding_that_is_never_called_is_not_idle_but_a_fault() -> None:
    subject = subject_of(NeverCalled())
    assert not is_idle(subject, "positions.weight")
    assert examine("PE302", NeverCalled()).status == "failed"


def test_a_bare_parameter_of_zeros_is_yet_to_train_and_a_stored_one_is_not() -> None:
    model = PLAIN["minGPT"]()
    assert starts_at_zero(subject_of(model))
    assert not starts_at_zero(subject_of(model, trained=True))
    assert not starts_at_zero(subject_of(PLAIN["nanoGPT"]()))


def test_a_fixed_table_of_zeros_will_never_be_anything_else() -> None:
    assert not starts_at_zero(subject_of(ROWS["ViTMAEModel"].build()))
    assert examine("PE206", ROWS["ViTMAEModel"].build()).severity == "error"
    assert examine("PE206", PLAIN["minGPT"]()).severity == "note"


def test_order_is_seen_in_a_model_whose_table_starts_at_zero() -> None:
    model = PLAIN["minGPT"]()
    assert examine("PE302", model).status == "passed"
    assert isinstance(model, nn.Module)
    assert not bool(dict(model.named_parameters())["pos_emb"].any()), "the user's own model is left alone"
    assert torch.is_grad_enabled()
