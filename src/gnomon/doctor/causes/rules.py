"""Which finding explains which: the first rule that fits wins, so that deeper causes stand first."""

from gnomon.doctor.causes.rule import Rule

ANY = ""
#: what an order that does not reach the model, or reaches it wrongly, looks like from outside
ORDER_LOST = {
    "PE211": ANY,
    "PE302": ANY,
    "PE303": "nothing|ignored",
    "PE306": "never arrive",
    "PE501": ANY,
    "PE502": ANY,
}
#: what wrong angles look like from outside
ANGLES_OFF = {
    "PE203": "frequencies",
    "PE301": ANY,
    "PE303": "shifting",
    "PE307": "frequencies",
    "PE401": ANY,
    "PE402": ANY,
    "PE403": ANY,
}

RULES: tuple[Rule, ...] = (
    Rule(
        "frequencies-in-half-precision",
        "PE209",
        r"(bfloat16|float16)",
        {**ANGLES_OFF, "PE601": ANY},
        r"inverse frequencies were cast to \1",
    ),
    Rule(
        "angles-in-half-precision",
        "PE301",
        r"angles are (bfloat16|float16)",
        {**ANGLES_OFF, "PE601": ANY},
        r"positions or angles are rounded to \1 in the forward",
    ),
    Rule(
        "another-base",
        "PE307",
        r"the frequencies follow base (\S+), the config says (\S+)",
        {"PE203": "base", "PE209": ANY},
        r"the rotary base is \1 where the config says \2",
    ),
    Rule("table-of-zeros", "PE206", "the table is (zero|constant)", {**ORDER_LOST, "PE207": ANY}),
    Rule("axes-swapped", "PE205", ANY, {"PE203": ANY, "PE208": ANY, "PE309": ANY, "PE207": ANY}),
    Rule("positions-along-the-batch", "PE306", "along the batch", {"PE302": ANY, "PE305": ANY, "PE502": ANY}),
    Rule("positions-never-arrive", "PE306", "never arrive", ORDER_LOST),
)
