"""One backward pass: which rows it reaches, and how the gradient compares with that of the words."""

import pytest
import torch
from torch import Tensor

from gnomon.adapters.subject import MissingEvidence
from gnomon.doctor.evidence.calling import model
from gnomon.doctor.evidence.gradients import gradients
from tests.helpers.healthy import FOREIGN
from tests.helpers.toys import Toy, subject_of


def test_rows_in_use_are_reached_and_no_others() -> None:
    [found] = gradients(subject_of(Toy()))
    assert (found.name, found.frozen, found.finite) == ("positions.weight", False, True)
    assert (found.rows_reached, found.rows_used) == (9, 9)


def test_the_size_is_relative_to_the_scale_that_positions_have() -> None:
    class Quiet(Toy):
        def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
            x: Tensor = self.words(tokens) + 0.01 * self.positions(ids)
            return x

    [loud], [quiet] = gradients(subject_of(Toy())), gradients(subject_of(Quiet()))
    assert loud.word_size
    assert quiet.word_size
    assert quiet.size / quiet.word_size == pytest.approx(0.01 * loud.size / loud.word_size, rel=0.5)


def test_rows_that_are_not_in_use_do_not_thin_the_size() -> None:
    [short], [long] = gradients(subject_of(Toy(rows=16))), gradients(subject_of(Toy(rows=1024)))
    assert long.size == pytest.approx(short.size, rel=0.5)


def test_no_gradient_is_left_behind() -> None:
    subject = subject_of(Toy())
    gradients(subject)
    assert all(parameter.grad is None for parameter in model(subject).module.parameters())
    assert all(parameter.grad is None for parameter in subject.module.parameters())


def test_gradients_are_taken_under_no_grad_too() -> None:
    with torch.no_grad():
        assert gradients(subject_of(Toy()))[0].rows_reached == 9


def test_two_tables_of_an_encoder_decoder_are_both_found() -> None:
    from tests.helpers.tiny_transformers import tiny_model

    assert len(gradients(subject_of(tiny_model("bart")))) == 2


def test_a_model_without_a_learned_table_has_none() -> None:
    with pytest.raises(MissingEvidence):
        gradients(subject_of(FOREIGN["llama"]()))
