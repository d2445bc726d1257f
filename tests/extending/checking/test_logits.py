from typing import Any

import pytest
import torch
from torch import Tensor, nn

from gnomon.extending.checking.logits import body_of, pieces
from tests.helpers.peaks import peak_growths
from tests.helpers.tiny_transformers import tiny_fields
from tests.helpers.weights import redraw, token_ids

PEAK = """
from types import SimpleNamespace
import torch
from torch import nn
from gnomon.extending.checking.logits import pieces

class Body(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(16384, 8)

    def forward(self, ids):
        return SimpleNamespace(last_hidden_state=self.words(ids))

class Model(nn.Module):  # put together as models of transformers are, whose import takes seconds
    def __init__(self):
        super().__init__()
        self.base_model, self.head = Body(), nn.Linear(8, 16384)

    def get_output_embeddings(self):
        return self.head

    def forward(self, ids):
        return SimpleNamespace(logits=self.head(self.base_model(ids).last_hidden_state))

def setup(length):
    return Model().eval(), torch.arange(length)

def warm_up(thing):
    run((thing[0], thing[1][:300]))

def run(thing):
    return [float(logits.double().sum()) for _, logits in pieces(*thing)]
"""


def with_head(model_type: str, auto: str = "AutoModelForCausalLM", **more: Any) -> Any:
    import transformers

    config = transformers.AutoConfig.for_model(**{**tiny_fields(model_type), **more})
    model = getattr(transformers, auto).from_config(config).eval()
    redraw(model)
    return model


@pytest.mark.parametrize(
    ("model_type", "auto", "more"),
    [
        ("llama", "AutoModelForCausalLM", {}),
        ("gpt2", "AutoModelForCausalLM", {}),
        ("opt", "AutoModelForCausalLM", {}),
        ("gemma2", "AutoModelForCausalLM", {"final_logit_softcapping": 0.7, "head_dim": 8, "num_key_value_heads": 2}),
        ("cohere", "AutoModelForCausalLM", {"logit_scale": 3.5}),
        ("granite", "AutoModelForCausalLM", {"logits_scaling": 7.0}),
        ("bloom", "AutoModelForCausalLM", {}),
        ("bert", "AutoModelForMaskedLM", {}),
        ("roberta", "AutoModelForMaskedLM", {}),
    ],
)
def test_the_pieces_are_the_logits_of_one_whole_forward(model_type: str, auto: str, more: dict[str, Any]) -> None:
    model = with_head(model_type, auto, **more)
    ids = token_ids(1, 29, vocabulary=50)[0] + 3
    with torch.no_grad():
        whole = model(ids[None]).logits[0]
    found = list(pieces(model, ids, 5, cells=4 * whole.shape[-1]))
    assert body_of(model, ids) is not None
    assert [first for first, _ in found] == [5, 6, 10, 14, 18, 22, 26]
    assert torch.allclose(torch.cat([logits for _, logits in found]), whole[5:], atol=1e-5)


def test_the_model_is_as_it_was_even_when_the_reader_stops_early() -> None:
    model = with_head("llama")
    ids = token_ids(1, 20, vocabulary=50)[0]
    with torch.no_grad():
        before = model(ids[None]).logits
        next(iter(pieces(model, ids, cells=1))).__len__()
        assert "forward" not in model.base_model.__dict__
        assert torch.equal(model(ids[None]).logits, before)


def test_a_forward_that_somebody_hung_on_the_body_stays_there() -> None:
    model = with_head("llama")
    own = model.base_model.forward
    calls: list[int] = []

    def watched(*args: Any, **kwargs: Any) -> Any:
        calls.append(args[0].shape[1])
        return own(*args, **kwargs)

    model.base_model.forward = watched
    list(pieces(model, token_ids(1, 9, vocabulary=50)[0], cells=1))
    assert model.base_model.__dict__["forward"] is watched
    assert calls.count(9) == 1  # over the whole row once; the others are of one token, to find out what is asked


def test_a_rule_that_looks_at_the_length_sees_the_whole_row() -> None:
    rope = {"rope_type": "dynamic", "factor": 8.0, "rope_theta": 100.0}
    model = with_head("llama", max_position_embeddings=8, rope_parameters=rope)
    fresh = with_head("llama", max_position_embeddings=8, rope_parameters=rope)
    ids = token_ids(1, 24, vocabulary=50)[0]
    found = torch.cat([logits for _, logits in pieces(model, ids, cells=53)])
    with torch.no_grad():
        assert torch.allclose(found, fresh(ids[None]).logits[0], atol=1e-5)


def test_a_module_of_another_make_gives_its_logits_at_once() -> None:
    class Plain(nn.Module):
        def forward(self, ids: Tensor) -> Tensor:
            return nn.functional.one_hot(ids, 7).float()

    [(first, logits)] = pieces(Plain(), torch.tensor([1, 3, 6]), 1)
    assert (first, logits.argmax(-1).tolist()) == (1, [3, 6])


def test_the_peak_hardly_grows_with_the_length_though_all_logits_would_fill_megabytes() -> None:
    short, long = peak_growths(PEAK, {"length": 512}, {"length": 1536})
    whole = 4 * 16384 * (1536 - 512)  # bytes of the logits of the further places
    assert long - short < whole / 10
