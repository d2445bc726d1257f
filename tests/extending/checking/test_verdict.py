from gnomon.extending.checking.embedding import Documents, Short
from gnomon.extending.checking.noise import Change
from gnomon.extending.checking.passkeys import Recall
from gnomon.extending.checking.results import AtLength, Checked, Keys, Models
from gnomon.extending.checking.verdict import verdict

MODELS = Models("old", "new", "causal", 512, 2048)
WORSE, SAME, BETTER = Change(2.0, 2.5, 0.05, 64), Change(2.0, 2.0, 0.0, 64), Change(2.5, 2.0, 0.05, 64)
UNSURE, AFTER = Change(2.0, 2.05, 0.05, 64), Change(None, 2.2)


def said(
    length: int, windows: Change, last: Change = SAME, gain: Change | None = None, why: str = ""
) -> tuple[str, ...]:
    return verdict(Checked(MODELS, 64, (AtLength(length, 8, windows, last, gain, (), why),)))


def test_a_rise_within_the_old_length_is_called_worse() -> None:
    assert said(512, WORSE) == (
        "At 512 tokens the loss rose from 2.000 to 2.500 (+0.500, standard error 0.050): short contexts got worse.",
    )


def test_the_last_tokens_count_where_all_of_them_show_nothing() -> None:
    [sentence] = said(256, UNSURE, WORSE)
    assert sentence.startswith("At 256 tokens the loss of the last 64 tokens rose")
    assert sentence.endswith("short contexts got worse.")


def test_within_noise_nothing_is_claimed() -> None:
    assert said(512, UNSURE) == (
        "At 512 tokens no change of the loss is seen beyond noise: from 2.000 to 2.050 (+0.050, standard error 0.050); "
        "64 blocks of 32 tokens at most: 3.1 standard errors would be needed.",
    )
    assert said(512, SAME) == ("At 512 tokens the loss is unchanged (2.000).",)


def test_a_fall_within_the_old_length_is_called_better() -> None:
    assert said(512, BETTER)[0].endswith("short contexts got better.")


def test_beyond_the_old_length_a_rise_is_no_worsening_of_short_contexts() -> None:
    assert "short contexts" not in said(2048, WORSE)[0]
    assert said(2048, AFTER, why="old cannot run") == ("At 2048 tokens the loss is 2.200; old cannot run there.",)
    assert said(2048, Change(None, None), why="new cannot run 2048 tokens") == (
        "At 2048 tokens nothing was measured: new cannot run 2048 tokens.",
    )


def test_whether_the_longer_context_helps_is_said_beyond_noise_only() -> None:
    assert said(2048, AFTER, gain=BETTER)[1].endswith("(-0.500, standard error 0.050): the longer context helps.")
    assert said(2048, AFTER, gain=WORSE)[1].endswith(": the longer context hurts.")
    assert "helps" not in said(2048, AFTER, gain=UNSURE)[1]


def test_keys_are_counted_for_the_models_that_were_asked() -> None:
    found, lost = Recall(0.0, True, 1.0, 0.1), Recall(1.0, False, 5.0, 3.0)
    keys = (Keys(512, (found, lost), (found, found)), Keys(2048, None, (lost, lost)))
    assert verdict(Checked(MODELS, 64, keys=keys)) == (
        "In 512 tokens old finds 1 of 2 keys (mean rank of their tokens 3.0) and new finds 2 of "
        "2 keys (mean rank of their tokens 1.0).",
        "In 2048 tokens new finds 0 of 2 keys (mean rank of their tokens 5.0).",
    )


def test_vectors_and_documents_are_said() -> None:
    documents = (Documents(512, 9, Change(0.9, 0.5, 0.02, 9), None, SAME), Documents(2048, 9, UNSURE, BETTER, SAME))
    short = (Short(32, 4, 1.0, 1.0), Short(512, 4, 0.98, 0.9))
    sentences = verdict(Checked(MODELS, 64, documents=documents, short=short, left_out=("1024 was not measured.",)))
    assert sentences[0] == "Inputs of 32 tokens keep their vectors (lowest cosine 1.000000)."
    assert sentences[1].startswith("Inputs of 512 tokens get other vectors: cosine with the ones before 0.9800")
    assert sentences[2].endswith("short contexts got worse.")
    assert sentences[4].startswith("Of the parts from beyond 512 tokens, which old does not read, the share")
    assert sentences[-1] == "1024 was not measured."


def test_worse_is_told_of_rows_within_the_old_length_alone() -> None:
    def worse(length: int, windows: Change) -> bool:
        return Checked(MODELS, 64, (AtLength(length, 8, windows, SAME),)).worse

    assert worse(512, WORSE)
    assert not any((worse(512, UNSURE), worse(512, BETTER), worse(2048, WORSE)))
