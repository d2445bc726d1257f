"""The decoder: causal, cached, padded, packed, with any encoding."""

import functools
import itertools
import subprocess
import sys

import pytest
import torch
from torch import Tensor

from gnomon import positions
from gnomon.attention import Attention
from gnomon.encodings import ALiBi, NoPE, Rotary
from gnomon.errors import GnomonError
from gnomon.models import EmbeddingOptions
from tests.helpers.models import NAMES, VOCABULARY, decoder, sample
from tests.helpers.weights import token_ids

LENGTH = 9
IDS = token_ids(2, LENGTH, vocabulary=VOCABULARY)
LEFT = torch.tensor([[0, 0, 0, 1, 1, 1, 1, 1, 1], [1] * LENGTH])
assert_close = functools.partial(torch.testing.assert_close, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_a_later_token_changes_no_earlier_logit(name: str) -> None:
    model, changed = decoder(sample(name)), IDS.clone()
    changed[:, 5] = (changed[:, 5] + 1) % VOCABULARY
    before, after = model(IDS), model(changed)
    assert_close(after[:, :5], before[:, :5])
    assert (after[:, 5:] - before[:, 5:]).abs().amax(-1).min() > 1e-3


def test_a_causal_model_without_positions_still_sees_order() -> None:
    model, swapped = decoder(NoPE()), IDS[:, [1, 0, *range(2, LENGTH)]]
    assert (model(swapped)[:, -1] - model(IDS)[:, -1]).abs().max() > 1e-2


@pytest.mark.parametrize(("name", "chunk"), list(itertools.product(NAMES, (1, 3))))
def test_decoding_in_chunks_equals_one_pass_under_left_padding(name: str, chunk: int) -> None:
    model = decoder(sample(name))
    cache, real = model.new_cache(), LEFT.bool()
    steps = [
        model(IDS[:, at : at + chunk], attention_mask=LEFT[:, at : at + chunk], cache=cache)
        for at in range(3, LENGTH, chunk)
    ]
    with_padding = model.new_cache()
    model(IDS[:, :4], attention_mask=LEFT[:, :4], cache=with_padding)
    rest = [model(IDS[:, at : at + chunk], cache=with_padding) for at in range(4, LENGTH, chunk)]
    whole = model(IDS, attention_mask=LEFT)
    assert_close(torch.cat(rest, dim=1), whole[:, 4:])
    alone = model(IDS[:1, 3:])
    assert_close(torch.cat(steps, dim=1)[:1], alone)
    assert_close(whole[0, real[0]], alone[0])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("documents", [None, torch.ones(2, LENGTH, dtype=torch.int64)])
def test_padding_may_come_one_token_at_a_time(name: str, documents: Tensor | None) -> None:
    """The first call then holds nothing but padding in row 0."""
    model = decoder(sample(name))
    cache, steps = model.new_cache(), []
    for at in range(LENGTH):
        now = slice(at, at + 1)
        more = {} if documents is None else {"documents": documents[:, now]}
        steps.append(model(IDS[:, now], attention_mask=LEFT[:, now], cache=cache, **more))
    assert_close(torch.cat(steps, dim=1)[:1, 3:], model(IDS[:1, 3:]))
    assert_close(torch.cat(steps, dim=1)[1:], model(IDS[1:]))


@pytest.mark.parametrize(("name", "chunk"), list(itertools.product(NAMES, (1, 3))))
def test_decoding_in_chunks_equals_one_pass_without_a_mask(name: str, chunk: int) -> None:
    model = decoder(sample(name))
    cache = model.new_cache()
    steps = [model(IDS[:, at : at + chunk], cache=cache) for at in range(0, LENGTH, chunk)]
    assert_close(torch.cat(steps, dim=1), model(IDS))


@pytest.mark.parametrize("name", NAMES)
def test_a_prompt_padded_on_the_right_goes_on_as_if_it_were_not(name: str) -> None:
    model = decoder(sample(name))
    cache = model.new_cache()
    model(IDS[:, :6], attention_mask=torch.tensor([[1, 1, 1, 1, 0, 0], [1] * 6]), cache=cache)
    rest = model(IDS[:, 6:], cache=cache)
    assert_close(rest[:1], model(IDS[:1, [0, 1, 2, 3, 6, 7, 8]])[:, 4:])
    assert_close(rest[1:], model(IDS[1:])[:, 6:])


@pytest.mark.parametrize("cached", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_packed_documents_give_what_they_give_alone(name: str, cached: bool) -> None:
    model, documents = decoder(sample(name)), torch.tensor([[7] * 4 + [3] * 5, [0] * 2 + [1] * 7])
    cache = model.new_cache() if cached else None
    parts = (slice(0, 3), slice(3, LENGTH)) if cached else (slice(0, LENGTH),)
    packed = torch.cat([model(IDS[:, p], documents=documents[:, p], cache=cache) for p in parts], dim=1)
    for row, split in ((0, 4), (1, 2)):
        alone = [model(IDS[row : row + 1, part]) for part in (slice(0, split), slice(split, LENGTH))]
        assert_close(packed[row], torch.cat(alone, dim=1)[0])


@pytest.mark.parametrize("name", NAMES)
def test_left_padding_and_packing_in_one_row_are_both_respected(name: str) -> None:
    model, documents = decoder(sample(name)), torch.tensor([[7] * 5 + [3] * 4, [0] * 2 + [1] * 7])
    packed = model(IDS, attention_mask=LEFT, documents=documents)
    alone = [model(IDS[:1, part]) for part in (slice(3, 5), slice(5, LENGTH))]
    assert_close(packed[:1, 3:], torch.cat(alone, dim=1))


@pytest.mark.parametrize("name", NAMES)
def test_passed_positions_win_over_derived_ones(name: str) -> None:
    encoding = sample(name)
    model, counted = decoder(encoding), torch.arange(LENGTH)[None]
    other = 2 * counted.flip(-1)  # other distances, and for those that only count tokens another order
    moved = (model(IDS, positions=other) - model(IDS)).abs().max()
    assert (moved > 1e-2) == encoding.uses_position
    assert_close(model(IDS, positions=counted), model(IDS))
    assert_close(model(IDS, attention_mask=LEFT, positions=positions.from_mask(LEFT)), model(IDS, attention_mask=LEFT))


@pytest.mark.parametrize("name", NAMES)
def test_beams_reordered_in_the_cache_go_on_from_their_own_past(name: str) -> None:
    model, beams = decoder(sample(name)), torch.tensor([1, 0, 0])
    cache = model.new_cache()
    model(IDS[:, :6], attention_mask=LEFT[:, :6], cache=cache)
    cache.reorder(beams)
    rest = model(IDS[beams, 6:], cache=cache)
    assert_close(rest, model(IDS, attention_mask=LEFT)[beams, 6:])


@pytest.mark.parametrize("name", NAMES)
def test_generation_picks_the_likeliest_token_of_a_full_pass_each_time(name: str) -> None:
    model = decoder(sample(name))
    out = model.generate(IDS, steps=4, attention_mask=LEFT)
    expected = IDS
    for row_mask in (torch.cat((LEFT, torch.ones(2, step, dtype=torch.int64)), dim=1) for step in range(4)):
        best: Tensor = model(expected, attention_mask=row_mask)[:, -1].argmax(-1)
        expected = torch.cat((expected, best[:, None]), dim=1)
    assert torch.equal(out, expected)


def test_generation_from_padding_is_refused() -> None:
    with pytest.raises(GnomonError, match="pad on the left"):
        decoder(NoPE()).generate(IDS, steps=1, attention_mask=LEFT.flip(1))


def test_a_cache_of_another_depth_is_refused() -> None:
    model = decoder(NoPE())
    cache = model.new_cache()
    cache.layers = cache.layers[:1]
    with pytest.raises(GnomonError, match="1 layers, the model 2"):
        model(IDS, cache=cache)


def test_the_state_dict_holds_no_derived_table_and_no_second_head() -> None:
    names = set(decoder(Rotary(8), EmbeddingOptions(scale="sqrt_dim", width=6)).state_dict())
    assert {name for name in names if "encoding" in name} == set()
    assert {name for name in names if ".blocks." not in name} == {
        "stack.embedding.words.weight",
        "stack.embedding.projection.weight",
        "stack.norm.weight",
        "stack.norm.bias",
    }


def test_every_parameter_gets_a_gradient() -> None:
    model = decoder(sample("learned"), EmbeddingOptions(width=6))
    model(IDS).square().mean().backward()
    still = [name for name, p in model.named_parameters() if p.grad is None or p.grad.abs().max() < 1e-7]
    assert [name for name in still if not name.endswith("attention.key.bias")] == []  # softmax cancels a key bias


@pytest.mark.parametrize("name", NAMES)
def test_bfloat16_runs_and_stays_near_float32(name: str) -> None:
    model = decoder(sample(name))
    full, low = model(IDS, attention_mask=LEFT), model.bfloat16()(IDS, attention_mask=LEFT)
    real = LEFT.bool()
    assert low.dtype == torch.bfloat16
    assert (low.float() - full)[real].abs().max() < 0.05 * full[real].abs().max()


def test_one_encoding_serves_all_layers() -> None:
    model = decoder(ALiBi(4))
    serving = [module.encoding for module in model.modules() if isinstance(module, Attention)]
    assert len(serving) == 2
    assert all(encoding is model.encoding for encoding in serving)


COMPILED = """
import torch
from gnomon.encodings import ALiBi, Rotary
from gnomon.models import Decoder, ModelOptions

ids, mask = torch.tensor([[0, 0, 7, 8, 9], [1, 2, 3, 4, 5]]), torch.tensor([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]])
for encoding in (Rotary(8), ALiBi(4)):
    model = Decoder(ModelOptions(vocabulary=50, dim=32, num_layers=2, num_heads=4), encoding=encoding).eval()
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
    with torch.no_grad():
        torch.testing.assert_close(compiled(ids, attention_mask=mask), model(ids, attention_mask=mask))
print("one graph")
"""


def test_a_padded_batch_compiles_into_one_graph() -> None:
    # In a process of its own: the checker of annotations that tests run with cannot be traced.
    ran = subprocess.run([sys.executable, "-c", COMPILED], capture_output=True, text=True, check=False)
    assert ran.stdout == "one graph\n", ran.stderr
