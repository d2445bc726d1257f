"""A light copy shares the large weights that a forward only reads, and nothing that code may write into."""

import pytest
import torch

from gnomon.adapters import load_subject
from gnomon.doctor.evidence import light_copy as module_of_copies
from gnomon.doctor.evidence.calling import Model, model
from gnomon.doctor.evidence.light_copy import light_copy
from tests.helpers.toys import Toy


@pytest.fixture
def probe(monkeypatch: pytest.MonkeyPatch) -> Model:
    monkeypatch.setattr(module_of_copies, "LARGE", 1)
    return model(load_subject(Toy()))


def test_words_and_linear_layers_are_shared_and_positions_are_not(probe: Model) -> None:
    other = light_copy(probe)
    own, copied = dict(probe.module.named_parameters()), dict(other.module.named_parameters())
    shared = {name for name in own if own[name] is copied[name]}
    assert "words.weight" in shared
    assert any("words" not in name for name in shared)
    assert "positions.weight" not in shared
    assert not any("bias" in name for name in shared)


def test_a_copy_gives_the_same_outputs_and_what_is_written_into_it_stays_there(probe: Model) -> None:
    content = probe.draw(2, 7)
    before, other = probe(content), light_copy(probe)
    torch.testing.assert_close(other(content), before)
    with torch.no_grad():
        other.module.get_parameter("positions.weight").zero_()
    assert not torch.allclose(other(content), before)
    torch.testing.assert_close(probe(content), before)


def test_small_weights_are_copied() -> None:
    probe = model(load_subject(Toy()))
    own, copied = probe.module.named_parameters(), dict(light_copy(probe).module.named_parameters())
    assert not any(weight is copied[name] for name, weight in own)
