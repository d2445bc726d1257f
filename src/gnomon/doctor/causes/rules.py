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
    "PE504": ANY,
    "PE509": ANY,
}
#: other frequencies than the config's, in the file, in the forward, and against a fresh build
FREQUENCIES = {"PE203": ANY, "PE223": ANY, "PE307": ANY, "PE413": ANY, "PE603": ANY, "PE604": ANY}
#: what wrong angles look like from outside
ANGLES_OFF = {
    **FREQUENCIES,
    "PE301": ANY,
    "PE303": "shifting",
    "PE311": ANY,
    "PE324": "clamped|share a position",
    "PE401": ANY,
    "PE402": ANY,
    "PE403": ANY,
    "PE601": ANY,
}
#: a cache whose tokens stand at other places shows in everything that goes on from it
CACHED = dict.fromkeys(("PE404", "PE406", "PE407", "PE408", "PE409", "PE410", "PE411", "PE412"), ANY)

RULES: tuple[Rule, ...] = (
    Rule(
        "frequencies-in-half-precision",
        "PE209",
        r"(bfloat16|float16)",
        ANGLES_OFF,
        r"inverse frequencies were cast to \1",
    ),
    Rule(
        "angles-in-half-precision",
        "PE301",
        r"angles are (bfloat16|float16)",
        ANGLES_OFF,
        r"positions or angles are rounded to \1 in the forward",
    ),
    Rule(
        "buffers-lost",
        "PE604",
        r"holds (0|nan), (0|nan)",
        {**ANGLES_OFF, "PE202": ANY, "PE206": ANY, "PE303": ANY, "PE313": ANY},
        "buffers that no checkpoint holds were lost on the way: frequencies or tables are zero or not numbers",
    ),
    Rule(
        "another-base",
        "PE307",
        r"the frequencies follow base (\S+), the config says (?!\1[ .])(\S+)",
        FREQUENCIES,
        r"the rotary base is \1 where the config says \2",
    ),
    Rule("other-frequencies", "PE307", "the frequencies (differ|follow)", FREQUENCIES),
    Rule("pairs-or-width", "PE307", "pairs|lanes|arranged", {"PE312": ANY, "PE314": ANY, "PE311": ANY}),
    Rule("size-of-the-rotation", "PE307", "multiplies lengths", {"PE314": ANY}),
    Rule("table-of-zeros", "PE206", "the table is (zero|constant)", {**ORDER_LOST, "PE207": ANY}),
    Rule("axes-swapped", "PE205", ANY, {"PE203": ANY, "PE207": ANY, "PE208": ANY, "PE309": ANY}),
    Rule("rows-missing", "PE204", ANY, {"PE310": ANY, "PE323": ANY}),
    Rule("table-resized", "PE222", ANY, {"PE204": ANY, "PE310": ANY}),
    Rule("positions-along-the-batch", "PE306", "along (the batch|dimension)", {**ORDER_LOST, "PE305": ANY}),
    Rule("positions-never-arrive", "PE306", "never arrive", ORDER_LOST),
    Rule("stored-slopes", "PE215", ANY, {"PE308": ANY}),
    Rule("term-of-other-tokens", "PE315", ANY, {"PE311": ANY, "PE325": ANY}),
    Rule("bias-between-sequences", "PE317", ANY, {"PE325": ANY, "PE402": ANY, "PE403": ANY, "PE504": ANY, **CACHED}),
    Rule("table-of-another-layer", "PE318", "own table", {"PE504": ANY}),
    Rule("image-coordinates", "PE414", ANY, {"PE403": ANY, **CACHED}),
    Rule(
        "position-ids-ignored",
        "PE303",
        "they are ignored",
        {"PE301": "off by", "PE302": ANY, "PE401": ANY, "PE403": ANY, "PE405": ANY, **CACHED},
    ),
    Rule("state-between-calls", "PE322", ANY, {"PE303": ANY, "PE403": ANY, "PE404": ANY, "PE409": ANY}),
    Rule("steps-differ", "PE403", ANY, {**CACHED, "PE307": "start at different", "PE311": ANY, "PE325": ANY}),
    Rule("scores-by-place", "PE311", ANY, {"PE303": "shifting", "PE325": ANY}),
    Rule("padding-is-counted", "PE401", ANY, {"PE403": "left-padded"}),
    Rule("packed-ids", "PE405", ANY, {"PE515": ANY}),
)
