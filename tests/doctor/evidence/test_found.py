"""Which encoding is where: by the config's word, else by the tensors, else by what a forward did."""

import pytest
import torch
from torch import Tensor, nn

from gnomon.doctor.evidence.found import found_encodings
from gnomon.encodings import ALiBi, Learned, Rotary, Sinusoidal
from gnomon.report.document import FoundEncoding
from tests.helpers.healthy import FOREIGN, decoder
from tests.helpers.spellings import Spelled, half_full, pairs_complex
from tests.helpers.toys import DIM, Toy, ToyDecoder, subject_of


def only(target: nn.Module) -> FoundEncoding:
    [found] = found_encodings(subject_of(target))
    return found


@pytest.mark.parametrize(("name", "kind"), [("llama", "rotary"), ("bloom", "alibi"), ("bert", "learned")])
def test_a_config_is_believed(name: str, kind: str) -> None:
    found = only(FOREIGN[name]())
    assert (found.kind, found.source) == (kind, "config")


@pytest.mark.parametrize("encoding", [Rotary(8), ALiBi(4), Sinusoidal(32), Learned(64, 32)])
def test_our_own_encodings_tell_for_themselves(encoding: nn.Module) -> None:
    assert only(decoder(encoding)).source == "config"  # type: ignore[arg-type]


def test_a_table_is_found_by_its_tensor() -> None:
    found = only(Toy(rows=17))
    assert (found.kind, found.where, found.source) == ("learned", "positions.weight", "weights")
    assert found.options == {"rows": 17, "dim": DIM}


@pytest.mark.parametrize(("rotate", "layout"), [(half_full, "half"), (pairs_complex, "interleaved")])
def test_a_rotation_that_only_the_forward_shows_is_found(rotate: object, layout: str) -> None:
    found = only(Spelled(rotate))  # type: ignore[arg-type]
    assert (found.kind, found.source) == ("rotary", "probe")
    assert found.options == {"rotary_dim": 8, "layout": layout, "layers": 1, "base": 500.0}


def test_a_linear_bias_and_another_bias_are_told_apart() -> None:
    class Linear(ToyDecoder):
        power = 1

        def bias(self, mask: Tensor) -> Tensor:
            places = torch.arange(mask.shape[1])
            distance = (places[:, None] - places).abs().float()
            return super().bias(mask) - 0.5 * distance**self.power * torch.ones(4, 1, 1)

        def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
            x: Tensor = self.words(tokens)
            return x

    class Bent(Linear):
        power = 2

    for kind, name in ((Linear, "alibi"), (Bent, "score bias")):
        toy = kind()
        del toy.positions
        found = only(toy)
        assert (found.kind, found.source) == (name, "probe")
        assert found.options["num_heads"] == 4
    assert found.where == "layers.*"


def test_computed_sinusoids_are_found_with_their_numbers() -> None:
    class Computed(Toy):
        def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
            angles = ids[..., None] * 500.0 ** (-torch.arange(DIM // 2) / (DIM // 2))
            x: Tensor = self.words(tokens) + torch.stack((angles.sin(), angles.cos()), -1).flatten(-2)
            return x

    toy = Computed()
    del toy.positions
    found = only(toy)
    assert (found.kind, found.source) == ("sinusoidal", "probe")
    assert (found.options["layout"], found.options["base"]) == ("interleaved", pytest.approx(500))


def test_a_model_without_positions_has_none() -> None:
    toy = Toy()
    toy.embed = lambda tokens, ids: toy.words(tokens)  # type: ignore[method-assign,assignment]
    del toy.positions
    assert found_encodings(subject_of(toy)) == ()
