"""PE508: a training step changes what a formula gives."""

import torch
from torch import Tensor
from torch.optim import SGD, AdamW

from tests.helpers.gallery_training import all_decayed, fixed, sinusoids
from tests.helpers.healthy import FOREIGN
from tests.helpers.toys import Toy, examine, only_finding


class Written(Toy):
    """A sinusoid in a buffer, which the forward scales in place while training."""

    def __init__(self) -> None:
        super().__init__()
        del self.positions
        self.register_buffer("pe", sinusoids())

    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        table: Tensor = self.pe  # type: ignore[assignment]
        x: Tensor = self.words(tokens) + table[ids].clone()
        if self.training:
            table.mul_(0.999)
        return x


def test_a_sinusoid_that_is_a_parameter_moves() -> None:
    result = examine("PE508", fixed(Toy(), trained=True), optimizer=lambda m: SGD(m.parameters(), lr=1.0))
    finding = only_finding(result)
    assert (result.severity, finding.where, finding.measured["rows changed"]) == ("warning", "positions.weight", 12)


def test_weight_decay_moves_rows_that_no_input_reaches() -> None:
    finding = only_finding(examine("PE508", fixed(Toy(), trained=True), optimizer=all_decayed))
    assert finding.measured["rows changed"] == 64


def test_batches_alone_are_enough_to_see_it() -> None:
    batches = [{"tokens": torch.arange(7)[None]}]
    assert only_finding(examine("PE508", fixed(Toy(), trained=True), batches=batches)).measured["rows changed"] == 7


def test_a_buffer_that_the_forward_writes_into_moves() -> None:
    assert only_finding(examine("PE508", Written(), optimizer=all_decayed)).where == "pe"


def test_a_frozen_sinusoid_stays() -> None:
    assert examine("PE508", fixed(Toy(), trained=False), optimizer=all_decayed).status == "passed"


def test_rotary_frequencies_stay() -> None:
    for name in ("llama", "llama, dynamic", "phi3, longrope"):
        result = examine("PE508", FOREIGN[name](), optimizer=lambda m: AdamW(m.parameters(), weight_decay=0.1))
        assert result.status == "passed", result


def test_it_needs_to_know_how_the_model_is_trained() -> None:
    assert "pass what trains the model" in examine("PE508", fixed(Toy(), trained=True)).detail


def test_a_learned_table_is_not_its_matter() -> None:
    assert "no sinusoid table" in examine("PE508", Toy(), optimizer=all_decayed).detail
