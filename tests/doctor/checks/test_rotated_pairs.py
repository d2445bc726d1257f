"""PE312: pairs, partners and sizes of what the rotation did to queries and keys."""

import pytest
import torch
from torch import Tensor

from tests.helpers.gallery_forms import Form, Rotated, halves, rotary, tables
from tests.helpers.healthy import FOREIGN
from tests.helpers.tiny_transformers import tiny_model
from tests.helpers.toys import Toy, examine, only_finding


class QueriesOnly(Rotated):
    def attend(self, q: Tensor, k: Tensor, v: Tensor, places: Tensor, layer: int) -> Tensor:
        out: Tensor = self.products(self.turn(q, places, layer), k).softmax(-1) @ v
        return out


class Apart(Rotated):
    """Keys are turned by `other` of what queries are turned by."""

    other = 1.1

    def attend(self, q: Tensor, k: Tensor, v: Tensor, places: Tensor, layer: int) -> Tensor:
        keys = self.turn(k, self.other * places, layer)
        out: Tensor = self.products(self.turn(q, places, layer), keys).softmax(-1) @ v
        return out


class Against(Apart):
    other = -1.0


class Tiled(Form):
    """Halves, by tables that are repeated for neighbours, written lane by lane."""

    def turn(self, x: Tensor, positions: Tensor, layer: int) -> Tensor:
        cos, sin = (table.repeat_interleave(2, dim=-1) for table in tables(positions, self.head_dim))
        out = torch.empty_like(x)
        out[..., :4] = x[..., :4] * cos[..., :4] - x[..., 4:] * sin[..., :4]
        out[..., 4:] = x[..., 4:] * cos[..., 4:] + x[..., :4] * sin[..., 4:]
        return out


class Grown(Rotated):
    """Queries grow with their place."""

    def attend(self, q: Tensor, k: Tensor, v: Tensor, places: Tensor, layer: int) -> Tensor:
        queries = self.turn(q, places, layer) * (1 + 0.05 * places[:, None, :, None])
        out: Tensor = self.products(queries, self.turn(k, places, layer)).softmax(-1) @ v
        return out


def test_queries_without_keys_are_found() -> None:
    finding = only_finding(examine("PE312", QueriesOnly()))
    assert finding.where == "blocks.*"
    assert finding.message.startswith("queries are rotated and keys are not")
    assert "rotate keys by the same angles" in finding.fix


@pytest.mark.parametrize(("model", "said"), [(Apart(), "apart"), (Against(), "opposite"), (Grown(), "stretched")])
def test_queries_and_keys_that_turn_unlike_are_found(model: Form, said: str) -> None:
    finding = only_finding(examine("PE312", model))
    assert "not turned alike" in finding.message
    assert said in finding.message


def test_two_angles_in_one_pair_are_found_in_queries_and_keys() -> None:
    findings = examine("PE312", Tiled()).findings
    assert [f.message.split(" are mixed")[0] for f in findings[:1]] == ["lanes 0 and 4 of the queries"]
    assert "repeat_interleave(2) for neighbours, cat((f, f)) for halves" in findings[0].fix


class Partner(Form):
    """Rotates 4 of 16 lanes, with partners half a head away."""

    head_dim = 16

    def turn(self, x: Tensor, positions: Tensor, layer: int) -> Tensor:
        cos, sin = tables(positions, 4)
        still = torch.zeros(*cos.shape[:3], 6)
        cos, sin = torch.cat((cos, still + 1), -1), torch.cat((sin, still), -1)
        return x * torch.cat((cos, cos), -1) + halves(x) * torch.cat((sin, sin), -1)


def test_a_partner_half_a_head_away_is_found_when_the_width_is_claimed() -> None:
    finding = only_finding(examine("PE312", Partner(), claims=(rotary(16, rotary_dim=4),)))
    assert finding.measured == {"pair": [0, 8], "rotated width": 4}
    assert "0 belongs to 2 (halves) or 1 (neighbours)" in finding.message
    assert examine("PE312", Partner()).status == "passed", "without a claim it may be meant"


@pytest.mark.parametrize("family", ["gptj", "gpt_neox", "deepseek_v2", "deepseek_v3", "gemma4_text", "llama4_text"])
def test_families_of_every_layout_and_width_pass(family: str) -> None:
    result = examine("PE312", tiny_model(family))
    assert result.status == "passed", (result.detail, result.findings)


def test_a_model_that_rotates_nothing_is_not_judged() -> None:
    for model in (Toy(), FOREIGN["bloom"](), Form()):
        result = examine("PE312", model)
        assert (result.status, result.detail) == ("not-applicable", "no queries or keys are rotated in the forward")
