"""A resolution as text: a row for each stack and kind of layer, sentences, ignored keys, lints; nothing too wide."""

from gnomon.report.resolved.document import Column, Lint, Mend, Resolution
from gnomon.report.resolved.layers import Effect, Frequencies, Layer, Scale, Unread
from gnomon.report.resolved.text import render_resolution

INVERSE = tuple(1e4 ** (-pair / 4) / (1 if pair < 2 else 4) for pair in range(4))


def layer(kind: str = "all layers", **fields: object) -> Layer:
    usual: dict[str, object] = {
        "frequencies": (Frequencies((16, 64), INVERSE),),
        "scales": (Scale(16, 1.0, 1.0), Scale(64, 1.138629, 1.296476)),
    }
    return Layer(kind, 16, 8, 1e4, "yarn", "half", **{**usual, **fields})  # type: ignore[arg-type]


def column(stack: str, verdict: str, **fields: object) -> Column:
    usual: dict[str, object] = {"status": "serves", "message": "", "layers": (layer(),), "cap": 40960}
    given = {"verdict": verdict, "sure": "by reading", "sources": "s", **usual, **fields}
    return Column(stack, "1", stack, "always", **given)  # type: ignore[arg-type]


def rendered(*columns: Column, **options: object) -> str:
    found = Resolution("a.json", "config", "hf5@1", (16, 64), 64, columns, ("All of it.",), ())
    return render_resolution(found, **options)  # type: ignore[arg-type]


def row(text: str, name: str) -> list[str]:
    [line] = [line for line in text.splitlines() if line.startswith(name + " ")]
    return line.removeprefix(name).split()


def test_a_row_has_the_numbers_at_the_longest_length() -> None:
    text = rendered(column("hf5", "reference"))
    assert text.startswith("a.json\nHeld against hf5@1 at 16 and 64 tokens; servers are started for 64.\n")
    assert row(text, "hf5") == ["yarn", "8/16", "10,000", "4x", "1.13863", "1.29648", "40,960", "reference"]


def test_the_worst_effect_stands_in_the_row() -> None:
    effects = (Effect("all layers", 16, True), Effect("all layers", 64, False, phase=2.5, relative=0.5, logits=0.9))
    text = rendered(column("hf5", "reference"), column("vllm", "differs", effects=effects, sentences=("It differs.",)))
    assert " ".join(row(text, "vllm")).endswith("2.5 rad, logits x0.9")
    assert "Differences\n  It differs." in text


def test_other_widths_layouts_and_unknown_logits_have_words() -> None:
    for effect, words in (
        (Effect("all layers", 64, False, incomparable="8 of 16 columns turn, 16 in the reference"), "other width"),
        (Effect("all layers", 64, False, incomparable="the frequencies are no numbers"), "not comparable"),
        (Effect("all layers", 64, False, layouts=True), "other layout"),
        (Effect("all layers", 64, False, logits=None), "logits x-"),
        (Effect("all layers", 64, True), "equal"),
    ):
        assert " ".join(row(rendered(column("vllm", "differs", effects=(effect,))), "vllm")).endswith(words)


def test_kinds_of_layers_have_rows_and_switches_are_told() -> None:
    kinds = (layer("full_attention", switch="long list above 16", temperature="1 + t"), layer("sliding_attention"))
    text = rendered(column("hf5", "reference", layers=kinds), column("vllm", "equal", layers=kinds))
    assert row(text, "hf5, full")[0] == "yarn"
    assert row(text, "hf5, sliding")[0] == "yarn"
    assert row(text, "vllm") == ["as", "hf5", "40,960", "equal"]  # one row where all kinds are as in the reference
    assert "Switches\n  hf5, vllm: long list above 16; logits are multiplied by 1 + t in full layers" in text


def test_engines_that_stop_have_a_row_and_absent_ones_stand_together_by_reason() -> None:
    text = rendered(
        column("hf5", "reference"),
        column("tgi", "stops", status="stops", message="m", layers=(), cap=None, sentences=("tgi stops: m.",)),
        column("ct2", "absent", status="absent", message="none there", layers=(), sentences=("ct2: none there.",)),
        column("fastgen", "absent", status="absent", message="none there", layers=(), sentences=("f: none there.",)),
    )
    assert row(text, "tgi") == ["-", "stops"]
    assert "tgi stops: m." in text
    assert "No such model, or not traced\n  ct2, fastgen: none there" in text
    assert text.count("none there") == 1


def test_keys_without_effect_stand_together_by_reason_and_by_stack() -> None:
    keys = (Unread("a", False, "dropped"), Unread("b", [1.5] * 99, "dropped"), Unread("c", "x", "not read"))
    text = rendered(column("hf5", "reference", ignored=keys), column("tgi", "equal", ignored=keys))
    flat = " ".join(text.split())
    assert "hf5, tgi: a = false, b = [1.5, 1.5" in flat
    assert "... (dropped); c = x" in flat


def test_an_older_version_is_named_and_so_are_several_of_one_stack() -> None:
    old = column("hf4", "equal", newest=False)
    assert row(rendered(column("hf5", "reference"), old), "hf4@1")[-1] == "equal"
    assert row(rendered(column("hf5", "reference"), column("hf4", "equal")), "hf4")[-1] == "equal"
    assert rendered(column("hf5", "reference"), old, column("hf4", "equal")).count("hf4@1 ") == 2


def test_notes_stand_together_by_what_they_say() -> None:
    kinds = (layer("a", notes=("both",)), layer("b", notes=("both", "mine")))
    text = rendered(column("hf5", "reference", notes=("both",)), column("tgi", "differs", layers=kinds))
    assert "Notes\n  hf5, tgi: both\n  tgi: mine" in text


def test_lints_are_told_with_what_to_do() -> None:
    lint = Lint("PE101", "n", "error", "config.json", "they differ", "write one")
    found = Resolution("a.json", "config", "hf5@1", (16,), 16, (column("hf5", "reference", layers=()),), (), (lint,))
    assert "The file itself\n  PE101 error, config.json: they differ. Do: write one." in str(found)


def test_no_line_is_wider_than_asked_and_headings_are_bold_where_colour_is() -> None:
    mend = Mend("a command " * 30)
    columns = [column("a-stack", "differs", mend=mend, sentences=("x " * 200,), notes=("n",)) for _ in range(3)]
    for width in (60, 80, 100):
        assert max(map(len, rendered(*columns, width=width).splitlines())) <= width
    assert "\x1b[1mDifferences\x1b[0m" in rendered(*columns, color=True)


def test_what_a_file_says_cannot_act_on_the_terminal() -> None:
    text = rendered(column("hf5", "reference", ignored=(Unread("a\x1b[31m", "b\x07", "not read"),)))
    assert "\x1b" not in text
    assert "\x07" not in text


def test_where_no_engine_serves_there_is_no_table() -> None:
    absent = column("hf5", "reference", status="absent", message="no rotation", layers=())
    assert "slower" not in rendered(absent)
    assert "slower: by how much" in rendered(column("hf5", "reference"))


def test_a_length_alone_is_no_difference() -> None:
    text = rendered(column("hf5", "reference"), column("tgi", "equal", sentences=("tgi takes 5 tokens.",)))
    assert "Other lengths\n  tgi takes 5 tokens." in text
    assert "Differences" not in text


def test_more_than_a_turn_is_no_angle_and_the_legend_says_what_cap_and_slower_mean() -> None:
    effects = (Effect("all layers", 64, False, phase=11984.0, relative=0.5),)
    text = " ".join(rendered(column("hf5", "reference"), column("tgi", "differs", effects=effects)).split())
    assert "more than a turn" in text
    assert "11,984" not in text
    assert "slower: by how much the slowest pair is slowed at 64 tokens" in text
    assert "cap: the longest sequence, by the file" in text


def test_a_reader_of_ours_that_broke_has_a_row_and_a_sentence() -> None:
    told = ("tgi: gnomon's own reader of this engine broke.",)
    broke = column("tgi", "broken", status="broken", message="m", layers=(), cap=None, sentences=told)
    text = rendered(column("hf5", "reference"), broke)
    assert row(text, "tgi") == ["-", "gnomon", "broke"]
    assert told[0] in text
