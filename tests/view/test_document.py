"""Documents on a page: words go on in a new line where one is full, and nothing else is broken."""

from __future__ import annotations

import pytest

from gradsh.view.document import Line, Prose, Table, cells, plain

TEXT = "the gradient of a value that was changed in place cannot be computed"


@pytest.mark.parametrize("width", [20, 33, 50, 80])
def test_words_are_kept_whole_and_in_order(width: int) -> None:
    shown = plain([Prose(("note", "muted"), f": {TEXT}")], width=width)
    assert shown.split() == f"note: {TEXT}".split()
    assert all(cells(line) <= width for line in shown.split("\n"))
    assert all(line.startswith("    ") for line in shown.split("\n")[1:])


def test_a_word_that_is_too_long_stands_alone() -> None:
    assert plain([Prose("see " + "x" * 30 + " there")], width=20) == f"see\n    {'x' * 30}\n    there"


def test_wide_characters_count_as_two_cells() -> None:
    assert plain([Prose("日本語 日本語 日本語")], width=14) == "日本語 日本語\n    日本語"


def test_what_is_no_prose_and_a_page_without_a_width_are_not_broken() -> None:
    assert plain([Line(TEXT)], width=20) == TEXT
    assert plain([Prose(TEXT)]) == TEXT
    table = Table(("name", "what"), [("x", TEXT)])
    assert plain([table]) == f"name  what\nx     {TEXT}"


def test_the_last_column_of_a_table_is_broken_to_fit() -> None:
    table = Table(("name", "what"), [("x", TEXT), ("longer", "short")])
    assert plain([table], width=40) == (
        "name    what\n"
        "x       the gradient of a value that was\n"
        "        changed in place cannot be\n"
        "        computed\n"
        "longer  short"
    )


def test_a_column_with_no_room_goes_below() -> None:
    table = Table(("", ""), [(":graph z from x to file", "show the graph behind it")])
    assert plain([table], width=40) == ":graph z from x to file\n    show the graph behind it"
