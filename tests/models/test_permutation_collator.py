"""The collator for permutation language modeling: what it hides, from whom, and what it asks for."""

import pytest
import torch

from gnomon.errors import GnomonError
from gnomon.models import PermutationBatch, PermutationCollator
from tests.helpers.weights import token_ids
from tests.helpers.xlnet import VOCABULARY, ours

CLS, SEP = 1, 2


def collator(seed: int = 0, **more: object) -> PermutationCollator:
    return PermutationCollator(generator=torch.Generator().manual_seed(seed), special_ids=(CLS, SEP), **more)  # type: ignore[arg-type]


def examples(*lengths: int) -> list[list[int]]:
    """Words, then [SEP] and [CLS] as XLNet has them."""
    words = token_ids(len(lengths), max(lengths), vocabulary=VOCABULARY - 3) + 3
    return [[*words[row, : length - 2].tolist(), SEP, CLS] for row, length in enumerate(lengths)]


def given(batch: PermutationBatch) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """perm_mask, target_mapping, attention_mask."""
    masks = batch.masks
    assert masks.perm_mask is not None
    assert masks.target_mapping is not None
    assert masks.attention_mask is not None
    return masks.perm_mask, masks.target_mapping, masks.attention_mask


@pytest.mark.parametrize("lengths", [(7, 7), (8, 8), (3, 11), (23, 6), (3,)])
def test_each_label_is_the_word_that_its_prediction_is_for(lengths: tuple[int, ...]) -> None:
    rows = examples(*lengths)
    batch = collator()(rows)
    hidden, mapping, real = given(batch)
    assert real.sum(-1).tolist() == list(lengths)
    for row, ids in enumerate(rows):
        assert batch.ids[row, : len(ids)].tolist() == ids
        asked = mapping[row].any(-1)
        assert asked.any()
        places = mapping[row, asked].int().argmax(-1)
        assert len(set(places.tolist())) == len(places)
        assert batch.labels[row, asked].tolist() == batch.ids[row, places].tolist()
        assert bool((batch.labels[row, ~asked] == -100).all())
        assert not set(batch.labels[row].tolist()) & {CLS, SEP}
        assert bool(hidden[row, places, places].all())
        context = [j for j, word in enumerate(ids) if j not in places.tolist() and word not in (CLS, SEP)]
        assert not hidden[row][:, context].any()
        assert bool(hidden[row, context][:, places].all())


def test_seeds_make_batches_and_calls_go_on() -> None:
    rows = examples(12, 15)
    first, same, other = collator(3), collator(3), collator(4)
    parts = [[*given(made(rows))[:2]] for made in (first, same, other)]
    assert all(torch.equal(a, b) for a, b in zip(parts[0], parts[1], strict=True))
    assert not torch.equal(parts[0][0], parts[2][0])
    again = given(first(rows))[0]
    assert not torch.equal(again, parts[0][0])
    assert torch.equal(again, given(same(rows))[0])


def test_about_the_share_that_was_asked_for_is_predicted_in_spans() -> None:
    rows = [list(range(3, 3 + 120)) for _ in range(200)]
    mapping = given(collator()(rows))[1]
    chosen = mapping.any(1)
    assert float(chosen.float().mean()) == pytest.approx(1 / 6, abs=0.01)
    runs = [len(run) for row in chosen.int().tolist() for run in "".join(map(str, row)).split("0") if run]
    # 1, 2 .. 5 alike would be 3 on average; two stretches may touch, and the last is cut off at the end.
    assert 2.7 < sum(runs) / len(runs) < 3.5
    dense = given(collator(probability=0.5, max_span_length=2)(rows))[1].any(1)
    assert float(dense.float().mean()) == pytest.approx(0.5, abs=0.02)


def test_at_least_one_token_of_each_example_is_predicted() -> None:
    for seed in range(40):
        mapping = given(collator(seed, probability=0.02)(examples(3, 4, 5)))[1]
        assert bool(mapping.any(-1).any(-1).all())


def test_blocks_keep_later_targets_from_earlier_tokens() -> None:
    hidden, mapping, _ = given(collator(probability=1.0, block=4)([list(range(3, 14))]))
    assert bool(mapping.any(1).all())
    assert bool(hidden[0, :4, 4:].all())
    assert not bool(hidden[0, 4:, :4].any())


def test_examples_may_be_lists_tensors_or_mappings() -> None:
    rows = examples(9, 6)
    forms = ([torch.tensor(row) for row in rows], [{"input_ids": row} for row in rows])
    for form in forms:
        assert torch.equal(collator()(form).ids, collator()(rows).ids)


def test_a_batch_goes_into_a_model_and_padding_does_not_count() -> None:
    batch = collator(padding_id=0)(examples(9, 5, 12))
    other = collator(padding_id=7)(examples(9, 5, 12))
    model = ours()
    out, same = model(batch.ids, batch.masks), model(other.ids, other.masks)
    loss = torch.nn.functional.cross_entropy(model.logits(out.hidden).flatten(0, 1), batch.labels.flatten())
    loss.backward()
    assert model.mask_vector.grad is not None
    asked = batch.labels != -100
    assert out.query is not None
    assert same.query is not None
    torch.testing.assert_close(out.query[asked], same.query[asked])


def test_what_cannot_be_predicted_from_is_named() -> None:
    with pytest.raises(GnomonError, match="no token to predict"):
        collator()([[5, 6, 7], [SEP, CLS]])
    with pytest.raises(GnomonError, match="at least one example"):
        collator()([])
    with pytest.raises(GnomonError, match="list of integer ids"):
        collator()([torch.tensor([0.5, 1.0])])
    with pytest.raises(GnomonError, match="above 0 and at most 1"):
        collator(probability=0.0)
    with pytest.raises(GnomonError, match="at least 1 token"):
        collator(max_span_length=0)
