"""Titles of figures."""


def join(title: str, what: str) -> str:
    """`title` in front of what a figure shows.

    >>> join("alibi", "Bias by distance"), join("", "Bias by distance")
    ('alibi: bias by distance', 'Bias by distance')
    """
    return f"{title}: {what[0].lower()}{what[1:]}" if title else what
