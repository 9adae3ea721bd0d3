"""What wrong and unfinished texts are told: the rows of mistakes.toml, Python's messages, places, and what goes on."""

from __future__ import annotations

import re
import tomllib

import pytest
from support.running import ROOT

from gradsh.fault import details_of
from gradsh.lang import Incomplete, Source, Span, compile_program, needs_more, parse_program

ROWS = tomllib.loads((ROOT / "grammar" / "mistakes.toml").read_text(encoding="utf-8"))["mistake"]


def wrong(text: str, dialect: str = "shell") -> tuple[str, str, str | None, Span]:
    """(type, message, hint, place) of what a text is told."""
    with pytest.raises(SyntaxError) as caught:
        compile_program(Source("<test>", text), dialect=dialect)  # type: ignore[arg-type]
    details = details_of(caught.value)
    assert details is not None and isinstance(details.span, Span)
    kind = next(
        base.__name__ for base in type(caught.value).__mro__ if base.__module__ == "builtins" and base is not Exception
    )
    return kind, str(caught.value.msg or caught.value), details.hint, details.span


@pytest.mark.parametrize(
    ("row", "example"),
    [(row, example) for row in ROWS for example in row["examples"]],
    ids=lambda item: item if isinstance(item, str) else "",
)
def test_every_example_gets_its_own_message(row: dict[str, str], example: str) -> None:
    _, message, hint, place = wrong(example)
    assert message == row["message"]
    if re.fullmatch(r"[^\w\s]+", row.get("help", "")):  # a mark: the line as it should be
        lines = example.split("\n")
        number = place.line - 1
        lines[number] = lines[number][: len(lines[number]) - len(lines[number].lstrip())] + str(hint)
        try:
            parse_program(Source("<test>", "\n".join(lines)))
        except SyntaxError as error:
            assert str(error.msg or error) != message
    else:
        assert hint == row.get("help")


# text, type, message, where it stands (line:column, column of the end)
MESSAGES = [
    ("x = (1 + 2\ny = 3\n", "SyntaxError", "'(' was never closed", "1:5-6"),
    ("f(a, [1, 2\n", "SyntaxError", "'[' was never closed", "1:6-7"),
    ("x = [1, 2)\n", "SyntaxError", "closing parenthesis ')' does not match opening parenthesis '['", "1:10-11"),
    ("x = [1,\n2)\n", "SyntaxError", "closing parenthesis ')' does not match opening parenthesis '[' on line 1",
    "2:2-3"),
    ("x = 1)\n", "SyntaxError", "unmatched ')'", "1:6-7"),
    ("x = 'abc\ny = 1\n", "SyntaxError", "unterminated string literal (detected at line 1)", "1:5-6"),
    ('x = r"abc\n', "SyntaxError", "unterminated string literal (detected at line 1)", "1:5-7"),
    ("x = '''abc\n\n", "SyntaxError", "unterminated triple-quoted string literal (detected at line 1)", "1:5-8"),
    ("f'{a'\n", "SyntaxError", "unterminated string literal (detected at line 1)", "1:5-6"),
    ("f'{a:5\n'\n", "SyntaxError", "unterminated f-string literal (detected at line 1)", "1:1-3"),
    ("f'{a:5'\n", "SyntaxError", "f-string: expecting '}'", "1:3-4"),
    ("f'abc\n", "SyntaxError", "unterminated f-string literal (detected at line 1)", "1:1-3"),
    ("f'}'\n", "SyntaxError", "f-string: single '}' is not allowed", "1:3-4"),
    ("f'{a!x}'\n", "SyntaxError", "f-string: invalid conversion character 'x': expected 's', 'r', or 'a'", "1:3-8"),
    ("f'{a:{b}'\n", "SyntaxError", "f-string: expecting '}'", "1:3-4"),
    ("f'{a)}'\n", "SyntaxError", "f-string: closing parenthesis ')' does not match opening parenthesis '{'", "1:5-6"),
    ("x = 1 +\n", "SyntaxError", "invalid syntax", "1:8-8"),
    ("x = \n", "SyntaxError", "invalid syntax", "1:4-4"),
    ("x = * 3\n", "SyntaxError", "can't use starred expression here", "1:5-8"),
    ("f(1 2)\n", "SyntaxError", "invalid syntax. Perhaps you forgot a comma?", "1:5-6"),
    ("[1, 2 'a']\n", "SyntaxError", "invalid syntax. Perhaps you forgot a comma?", "1:7-10"),
    ("x y\n", "SyntaxError", "invalid syntax", "1:3-4"),
    ("  x = 1\n", "IndentationError", "unexpected indent", "1:3-4"),
    ("x = 1\n    y = 2\n", "IndentationError", "unexpected indent", "2:5-6"),
    ("if x:\n        y\n    z\n", "IndentationError", "unindent does not match any outer indentation level", "3:5-6"),
    ("if x:\n\ty\n        z\n", "TabError", "inconsistent use of tabs and spaces in indentation", "3:9-10"),
    ("if x:\ny\n", "IndentationError", "expected an indented block after 'if' statement on line 1", "2:1-2"),
    ("def f(a,\n      b):\nx = 1\n", "IndentationError",
    "expected an indented block after function definition on line 1", "3:1-2"),
    ("class A:\nx\n", "IndentationError", "expected an indented block after class definition on line 1", "2:1-2"),
    ("if x:\n    y\nelse:\nz\n", "IndentationError", "expected an indented block after 'else' statement on line 3",
    "4:1-2"),
    ("for x in y:\n    try:\n    z\n", "IndentationError",
    "expected an indented block after 'try' statement on line 2", "3:5-6"),
    ("while x:\n", "IndentationError", "expected an indented block after 'while' statement on line 1", "1:9-9"),
    ("return 1\n", "SyntaxError", "'return' outside function", "1:1-9"),
    ("x = 1\nbreak\n", "SyntaxError", "'break' outside loop", "2:1-6"),
    ("def f():\n    continue\n", "SyntaxError", "'continue' not properly in loop", "2:5-13"),
    ("yield 1\n", "SyntaxError", "'yield' outside function", "1:1-8"),
    ("f() = 1\n", "SyntaxError", "cannot assign to function call here. Maybe you meant '==' instead of '='?", "1:1-4"),
    ("x + 1 = 2\n", "SyntaxError", "cannot assign to expression here. Maybe you meant '==' instead of '='?", "1:1-6"),
    ("3 = x\n", "SyntaxError", "cannot assign to literal here. Maybe you meant '==' instead of '='?", "1:1-2"),
    ("'a' = x\n", "SyntaxError", "cannot assign to literal here. Maybe you meant '==' instead of '='?", "1:1-4"),
    ("f'{a}' = x\n", "SyntaxError", "cannot assign to f-string expression here. Maybe you meant '==' instead of '='?",
    "1:1-7"),
    ("... = x\n", "SyntaxError", "cannot assign to ellipsis here. Maybe you meant '==' instead of '='?", "1:1-4"),
    ("True = x\n", "SyntaxError", "cannot assign to True", "1:1-5"),
    ("a < b = x\n", "SyntaxError", "cannot assign to comparison", "1:1-6"),
    ("(a, f()) = x\n", "SyntaxError", "cannot assign to function call", "1:5-8"),
    ("[a, 1] = x\n", "SyntaxError", "cannot assign to literal", "1:5-6"),
    ("x = f() = 1\n", "SyntaxError", "cannot assign to function call", "1:5-8"),
    ("a if b else c = 1\n", "SyntaxError", "cannot assign to conditional expression", "1:1-14"),
    ("lambda: x = 1\n", "SyntaxError", "cannot assign to lambda", "1:1-10"),
    ("[x for x in y] = 1\n", "SyntaxError", "cannot assign to list comprehension", "1:1-15"),
    ("(x for x in y) = 1\n", "SyntaxError", "cannot assign to generator expression", "1:1-15"),
    ("for f() in x: pass\n", "SyntaxError", "cannot assign to function call", "1:5-8"),
    ("with x as f(): pass\n", "SyntaxError", "cannot assign to function call", "1:11-14"),
    ("[x for 1 in y]\n", "SyntaxError", "cannot assign to literal", "1:8-9"),
    ("del f()\n", "SyntaxError", "cannot delete function call", "1:5-8"),
    ("del x + 1\n", "SyntaxError", "cannot delete expression", "1:5-10"),
    ("del (a, 1)\n", "SyntaxError", "cannot delete literal", "1:9-10"),
    ("f() += 1\n", "SyntaxError", "'function call' is an illegal expression for augmented assignment", "1:1-4"),
    ("(a, b) += 1\n", "SyntaxError", "'tuple' is an illegal expression for augmented assignment", "1:1-7"),
    ("f(): int = 1\n", "SyntaxError", "illegal target for annotation", "1:1-4"),
    ("a, b: int = 1\n", "SyntaxError", "only single target (not tuple) can be annotated", "1:1-5"),
    ("a, *b, *c = x\n", "SyntaxError", "multiple starred expressions in assignment", "1:1-10"),
    ("f(a=1, 2)\n", "SyntaxError", "positional argument follows keyword argument", "1:8-9"),
    ("f(**a, 2)\n", "SyntaxError", "positional argument follows keyword argument unpacking", "1:8-9"),
    ("f(**a, *b)\n", "SyntaxError", "iterable argument unpacking follows keyword argument unpacking", "1:8-10"),
    ("f(a=1, a=2)\n", "SyntaxError", "keyword argument repeated: a", "1:8-11"),
    ("def f(a, a): pass\n", "SyntaxError", "duplicate argument 'a' in function definition", "1:10-11"),
    ("def f(a=1, b): pass\n", "SyntaxError", "non-default argument follows default argument", "1:12-13"),
    ("def f(*): pass\n", "SyntaxError", "named arguments must follow bare *", "1:7-8"),
    ("def f(*a, *b): pass\n", "SyntaxError", "* argument may appear only once", "1:11-13"),
    ("def f(**k, a): pass\n", "SyntaxError", "arguments cannot follow var-keyword argument", "1:12-13"),
    ("def f(/, a): pass\n", "SyntaxError", "at least one argument must precede /", "1:7-8"),
    ("def f(a, /, b, /): pass\n", "SyntaxError", "/ may appear only once", "1:16-17"),
    ("def f(*a, /): pass\n", "SyntaxError", "/ must be ahead of *", "1:11-12"),
    ("lambda a=1, b: 0\n", "SyntaxError", "non-default argument follows default argument", "1:13-14"),
    ("try:\n    x\nexcept:\n    y\nexcept A:\n    z\n", "SyntaxError", "default 'except:' must be last", "3:1-4:6"),
    ("def f():\n    x = 1\n    global x\n", "SyntaxError", "name 'x' is assigned to before global declaration",
    "3:5-13"),
    ("def f():\n    nonlocal q\n", "SyntaxError", "no binding for nonlocal 'q' found", "2:5-15"),
    ("nonlocal q\n", "SyntaxError", "nonlocal declaration not allowed at module level", "1:1-11"),
    ("0777\n", "SyntaxError",
    "leading zeros in decimal integer literals are not permitted; use an 0o prefix for octal integers", "1:1-5"),
    ("0b12\n", "SyntaxError", "invalid digit '2' in binary literal", "1:1-5"),
    ("0o8\n", "SyntaxError", "invalid digit '8' in octal literal", "1:1-4"),
    ("0xg\n", "SyntaxError", "invalid hexadecimal literal", "1:1-4"),
    ("1abc\n", "SyntaxError", "invalid decimal literal", "1:1-5"),
    ("1_000_\n", "SyntaxError", "invalid decimal literal", "1:1-7"),
    ("1j\n", "SyntaxError", "complex numbers are not supported", "1:1-3"),
    ("x = 2.5J + 1\n", "SyntaxError", "complex numbers are not supported", "1:5-9"),
    ("x = 1 \\ + 2\n", "SyntaxError", "unexpected character after line continuation character", "1:7-8"),
    ("'\\x4'\n", "SyntaxError",
    "(unicode error) 'unicodeescape' codec can't decode bytes in position 0-2: truncated \\xXX escape", "1:1-6"),
    ("'\\N{nothing}'\n", "SyntaxError", "unknown Unicode character name: nothing", "1:1-14"),
    ("print(“a”)\n", "SyntaxError", "invalid character '“' (U+201C)", "1:7-8"),
    ("x = 5 − 3\n", "SyntaxError", "invalid character '−' (U+2212)", "1:7-8"),
    ("x =\xa01\n", "SyntaxError", "invalid non-printable character U+00A0", "1:4-5"),
    ("x = 1\u200b\n", "SyntaxError", "invalid non-printable character U+200B", "1:6-7"),
    ("x = 1\x07\n", "SyntaxError", "invalid non-printable character U+0007", "1:6-7"),
    ("x\0 = 1\n", "SyntaxError", "source code cannot contain null bytes", "1:2-3"),
    ("x = 1 ? 2 : 3\n", "SyntaxError", "invalid syntax", "1:7-8"),
    ("$x = 1\n", "SyntaxError", "invalid syntax", "1:1-2"),
    ("def f(:\n    pass\n", "SyntaxError", "invalid syntax", "1:7-8"),
    ("import a as b.c\n", "SyntaxError", "invalid syntax", "1:14-15"),
    ("x = yield = 1\n", "SyntaxError", "cannot assign to yield expression", "1:5-10"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "kind", "message", "place"), MESSAGES, ids=[case[0] for case in MESSAGES])
def test_message_and_place(text: str, kind: str, message: str, place: str) -> None:
    found, said, _, span = wrong(text)
    start, _, end = place.partition("-")
    if ":" not in end:
        end = f"{start.split(':')[0]}:{end}"
    assert (found, said, f"{span.line}:{span.column}", f"{span.end_line}:{span.end_column}") == (
        kind,
        message,
        start,
        end,
    )


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("print(“a”)\n", 'print("a")'), ("x = ‘a’\n", "x = 'a'"), ("x = 5 − 3\n", "x = 5 - 3"),
        ("x = 2 × 3\n", "x = 2 * 3"), ("x ≤ 3\n", "x <= 3"),
        ("x = 1，2\n", "x = 1,2"), ("f（1)\n", "f(1)"),
        ("x =\xa01\n", "an ordinary space in its place"), ("x = 1\u200b\n", "delete it"), ("y = !x\n", "not"),
        ("x = a ? b : c\n", "a if condition else b"), ("2x\n", "2 * x"),
        ("0777\n", "777"), ("x = (1\n", "close it with )"), ("x = 'a\n", "close it with '"),
        ('"\\u12"\n', 'r"…" keeps backslashes'),
        ("x = 5 – 3\n", "x = 5 - 3"), ("x²\n", "x**2"),
        ("if x > 1  # c\n    y\n", "if x > 1:  # c"), ("x = [1, 2)\n", "close the [ with ]"),
    ],
)  # fmt: skip
def test_hint(text: str, hint: str) -> None:
    assert wrong(text)[2] == hint


INCOMPLETE = {
    "bracket": ["x = (1 +\n", "f(1,\n\n", "[1,\n 2", "{", "x = {1:", "f(x for", "a[1:", "f'{", "f'{a +", "f'''{a:{",
    "(\n# comment\n", "print(f'{x}'", "x = (1 + \\\n"],
    "string": ["'''abc\n", '"""', "x = f'''a\n\nb", 'x = """a\n\n', "f'''{a}\n", "f(r'''x"],
    "line": ["x = 1 + \\\n", "x = \\", "if x: \\\n", "x = 1 \\\n   "],
    "block": [
        "if x:", "if x:\n", "if x:\n\n\n", "if x:  # why\n", "while x:\n    # only a comment\n", "for x in y:",
        "def f(a, b=1):", "class A:\n", "try:\n    x", "try:\n    x\n", "@f\n",
        "if x:\n    y\nelse:", "if x:\n    y\nelif z:\n", "with a as b:", "try:\n    x\nfinally:\n",
        "try:\n    x\nexcept A:", "def f():\n    if x:\n", "class A:\n    def f(self):\n",
    ],
}  # fmt: skip


@pytest.mark.parametrize(("inside", "text"), [(inside, text) for inside, texts in INCOMPLETE.items() for text in texts])
def test_incomplete(inside: str, text: str) -> None:
    with pytest.raises(Incomplete) as caught:
        parse_program(Source("<test>", text))
    assert caught.value.inside == inside
    assert isinstance(caught.value, SyntaxError)


@pytest.mark.parametrize(
    "text",
    [
        "x = 1 +\n", "x = 1 +", "if x", "if x\n", "f(x y", "f(x y\n", "x = (1 + * 2", "x = [1, 2\ny = 3\n", "def f(",
        ")", "x = 'abc", "f'abc\n", "else:", "for x in", "1 +* (", "x = (]",
        "if x:\ny", "try:\n    x\ny", "def", "import", "x = $", "f(**", "lambda", "  x", ":", "x = 1 \\ 2",
    ],
)  # fmt: skip
def test_wrong_and_not_incomplete(text: str) -> None:
    with pytest.raises(SyntaxError) as caught:
        parse_program(Source("<test>", text))
    if text in ("def f(", "f(**"):
        # Nothing is wrong with these yet: a bracket is open.
        assert isinstance(caught.value, Incomplete)
    else:
        assert not isinstance(caught.value, Incomplete)


@pytest.mark.parametrize("text",
["", "\n", "# only\n", "x = 1", "x = 1\n", "if x: y", "if x:\n    y", "if x:\n  y\n", "def f():\n    return 1",
"x = (1,\n 2)", "'''a\nb'''", "x = 1;", "%magic\n", "pass"])  # fmt: skip
def test_complete(text: str) -> None:
    parse_program(Source("<test>", text))


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("x = 1", False), ("x = 1\n", False), ("", False), ("if x:", True), ("if x:\n    y", True),
        ("if x:\n    y\n", False), ("if x: y", True), ("if x: y\n", False),
        ("if x:\n    y\n    ", False), ("if x:\n    y\n\n", False), ("if x:\n", False),
        ("def f():\n    a = 1\n    return a", True), ("x = (1,", True), ("x = (1,\n\n", True),
        ("'''a", True), ("'''a\n\n", True), ("x = 1 \\", True), ("x = 1 +", False), ("x y", False),
        ("if x:\n    y\nz = 1", False), ("class A:\n    x = 1\n\n    y = 2", True),
        ("@f\ndef g(): pass", True), ("@f", True), ("try:\n    x", True), ("for x in y:\n    z\nelse:", True),
        (":backward x", False), ("if x:\n    :backward x", True), ("f(", True),
        ("if x:\n    y  # c", True), ("if x:\n    y\n# c", True), ("x = [\n    1,\n    2", True), ("f'''{x}", True),
        ("return 1", False),
    ],
)  # fmt: skip
def test_needs_more(text: str, more: bool) -> None:
    assert needs_more(text) is more


def test_the_rest_of_the_text_does_not_matter() -> None:
    """The first thing that is wrong is told."""
    assert wrong("x = = 1\ny = 'abc\n")[3].line == 1
    assert wrong("x = 1\nif y z:\n    w\n(\n")[3].line == 2


def test_newlines_tabs_and_marks() -> None:
    for text in [
        "\ufeffx = 1\r\nif x:\r\n\ty = 2\r\n",
        "x = 1\rif x:\r  y = 2\r",
        "\x0cx = 1\n\x0c\nif x:\n    y = 2\n\x0c",
    ]:
        assert compile_program(Source("<test>", text)).assigned == {"x", "y"}
    assert wrong("\ufeffx = $\r\n")[3].column == 5
