"""Indentation, pastes, colours and plain input, without a terminal."""

from __future__ import annotations

import io

import pytest

from gradsh import Session
from gradsh.lang import tokens
from gradsh.repl.editing import cleaned_paste, indent_after, surplus_indent
from gradsh.repl.highlighting import parts
from gradsh.repl.plain import PlainReader


@pytest.mark.parametrize(
    ("text", "indent"),
    [
        ("if x:", 4),
        ("if x:  # why", 4),
        ("def f(a,\n      b):", 4),
        ("for i in y:\n    if i:", 8),
        ("for i in y:\n    if i:\n        pass", 4),
        ("    return f(\n        1)", 0),
        ("x = 1", 0),
        ("if x:\n    y = 1", 4),
        ("x = [", 4),
        ("x = [1,", 0),
        ("    f(a,\n      b,", 6),
        ("x: int", 0),
        ("f = lambda:", 0),
        ("d = {1:", 0),
        ("if x:\n    :backward z", 4),
        ("if x:\n    s = '''a", 4),
    ],
)
def test_the_indentation_of_the_next_line(text: str, indent: int) -> None:
    assert indent_after(text) == " " * indent


@pytest.mark.parametrize(
    ("text", "surplus"),
    [
        ("if x:\n    y\n    else:", 4),
        ("if x:\n    if y:\n        z\n    else:", 0),
        ("if x:\n    if y:\n        z\n        else:", 4),
        ("for i in x:\n    if i:\n        a\n    b\n    else:", 4),
        ("try:\n    a\n    except (B, C):", 4),
        ("try:\n    a\nexcept B:\n    b\n    finally:", 4),
        ("if x:\n    a\n    elif x[1:", 0),
        ("if x:\n    a = [1,\n    else:", 0),
        ("x = 1\n    else:", 0),
    ],
)
def test_where_an_else_belongs(text: str, surplus: int) -> None:
    assert surplus_indent(text) == surplus


@pytest.mark.parametrize(
    ("text", "before", "expected"),
    [
        ("a\r\nb\r\n", "", "a\nb"),
        ("    a\n\n    if b:\n        c\n", "", "a\n\nif b:\n    c"),
        ("a\nb", "    ", "a\n    b"),
        ("a\nb", "x = ", "a\nb"),
        (
            ">>> a = 1\n>>> def f():\n...     return 2\n...\n>>> f()\n2\n>>> a\n1\n",
            "",
            "a = 1\ndef f():\n    return 2\n\nf()\na",
        ),
        ("In [1]: a = 1\n\nIn [2]: a\nOut[2]: 1\n", "", "a = 1\na"),
    ],
)
def test_what_a_paste_becomes(text: str, before: str, expected: str) -> None:
    assert cleaned_paste(text, before) == expected


def styles(text: str) -> list[tuple[str, str]]:
    return [(text[start:end], style) for start, end, style in parts(text, "shell", {"grad"}, {"sin", "print"})]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = sin(2.5)  # half", [("sin", "library"), ("2.5", "number"), ("# half", "comment")]),
        ("x.sin", []),
        ("if x is None: pass", [("if", "keyword"), ("is", "keyword"), ("None", "keyword"), ("pass", "keyword")]),
        (":grad x of y", [("grad", "command"), ("of", "keyword")]),
        (":grab x", []),
        ("of = 1", [("1", "number")]),
        (
            "f'a{sin:>{2}}b'",
            [
                ("f'", "string"),
                ("a", "string"),
                ("sin", "library"),
                (">", "string"),
                ("2", "number"),
                ("b", "string"),
                ("'", "string"),
            ],
        ),
        ("'open", [("'open", "string")]),
        ("a ? b", [("?", "wrong")]),
        ("# one\n# two", [("# one", "comment"), ("# two", "comment")]),
    ],
)
def test_the_colours_of_a_text(text: str, expected: list[tuple[str, str]]) -> None:
    assert styles(text) == expected


def test_every_keyword_of_the_grammar_is_coloured() -> None:
    from gradsh.lang import keywords

    assert all(styles(word) == [(word, "keyword")] for word in keywords())
    assert {"if", "lambda", "None"} <= set(keywords())
    assert all(kind == "NAME" for kind, *_ in tokens("iffy nones")[:2])


def test_plain_input_reads_blocks() -> None:
    output = io.StringIO()
    source = io.StringIO("x = 1\nfor i in y:\n    a\n\nf(\n\n1)\n")
    reader = PlainReader(Session(), source, output)
    assert [reader.read() for _ in range(3)] == ["x = 1", "for i in y:\n    a", "f(\n\n1)"]
    with pytest.raises(EOFError):
        reader.read()
    assert output.getvalue() == ">>> >>> ... ... >>> ... ... >>> \n"
