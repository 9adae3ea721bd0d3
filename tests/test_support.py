"""The comparisons that other tests rest on tell right from wrong."""

from __future__ import annotations

import pytest
from support import markdown, texts
from support.records import close


@pytest.mark.parametrize(
    ("got", "want", "same"),
    [
        ("tensor(1.0001)", "tensor(1.0000)", True),
        ("tensor(1.0003)", "tensor(1.0000)", False),
        ("0.30000000000000004", "0.3", True),
        ("1.0000e-05", "1.0001e-05", True),
        ("1.0000e-05", "1.0100e-05", False),
        ("nan", "1.0", False),
        ("inf", "-inf", False),
        ("nan inf", "nan inf", True),
        ("3", "4", False),
        ("x 3", "x 3.0", False),
        ("torch.Size([2, 3])", "torch.Size([2, 4])", False),
        ("tensor([1.,  2.])", "tensor([1., 2.])", False),
        ("fc1.weight", "fc2.weight", False),
        ("<AddBackward0>", "<AddBackward1>", False),
        ("lr=0.1", "lr=0.2", False),
        ("", "x", False),
    ],
)
def test_texts(got: str, want: str, same: bool) -> None:
    assert texts.same(got, want) is same


@pytest.mark.parametrize(
    ("got", "want", "same"),
    [
        ([1.0, 2.0], [1.0, 2.0 + 1e-12], True),
        ([1.0, 2.0], [1.0, 2.001], False),
        ([1.0], [1.0, 2.0], False),
        (1.0, [1.0], False),
        (float("nan"), "nan", True),
        (float("-inf"), "inf", False),
        (True, False, False),
        (2, 3, False),
        (None, 1.0, False),
    ],
)
def test_numbers(got: object, want: object, same: bool) -> None:
    assert close(got, want, 1e-9, 1e-12) is same


def test_markdown() -> None:
    page = "a\n```gradsh\nx\n```\nb\n```text\n1\n```\n\n```console\n$ one \\\n  two\nout\n$ three\n```\n"
    (block, shown), *rest = markdown.programs(page)
    assert (block.text, block.line, shown and page[shown.start : shown.end], rest) == ("x\n", 2, "1\n", [])
    assert list(markdown.steps(markdown.blocks(page)[-1].text)) == [
        markdown.Step("one \\\n  two", "out\n"),
        markdown.Step("three", ""),
    ]
