"""Peak memory, worked by hand."""

import torch

from gnomon.lab.measures.reading.peak import peak_bytes

CPU = torch.device("cpu")
X = torch.ones(1000)  # 4000 bytes


def test_what_is_freed_makes_room() -> None:
    def run() -> None:
        y = X * 2
        y = y + 1  # two at once
        del y
        X.exp()

    assert peak_bytes(run, CPU) == 8000


def test_views_and_what_was_there_before_cost_nothing() -> None:
    def run() -> None:
        X.view(10, 100).T[2:].sum()

    assert peak_bytes(run, CPU) == 4  # the sum


def test_what_the_backward_pass_needs_is_held_until_then() -> None:
    weight = torch.ones(1000, requires_grad=True)

    def run() -> None:
        ((weight * X).exp().sin()).sum().backward()  # exp's and sin's arguments stay; all intermediates are 4000 bytes

    assert 4 * 3000 <= peak_bytes(run, CPU) <= 4 * 6000


def test_adding_in_place_costs_nothing() -> None:
    y = X.clone()

    def run() -> None:
        y.add_(1)

    assert peak_bytes(run, CPU) == 0
