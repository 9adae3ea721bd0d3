"""The one rule for commands: what stands where, words that are names elsewhere, paths, and how arguments are passed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from gradsh.fault import CommandError, details_of, fault
from gradsh.lang import Source, Span, builtin_names, compile_program, runtime_names
from gradsh.lang.commands import CommandCall


def calls(text: str, signatures: Any = None) -> list[CommandCall]:
    return compile_program(Source("<test>", text), signatures=signatures).commands


def shape(call: CommandCall) -> tuple[Any, ...]:
    """(name, first arguments, {word: arguments}, {key: text})"""
    words = {word: [argument.text for argument in call.clause(word)] for word in call.words}
    return (
        call.name,
        [argument.text for argument in call.first],
        words,
        {key: argument.text for key, argument in call.options.items()},
    )


@pytest.mark.parametrize(
    ("text", "name", "first", "words", "options"),
    [
        (":vars", "vars", [], {}, {}),
        (":backward z", "backward", ["z"], {}, {}),
        (":backward z with v retain=True", "backward", ["z"], {"with": ["v"]}, {"retain": "True"}),
        (":backward z with [1, 2] retain=True create=x == 1", "backward", ["z"], {"with": ["[1, 2]"]},
        {"retain": "True", "create": "x == 1"}),
        (":grad x, y", "grad", ["x", "y"], {}, {}),
        (":grad x of z with v", "grad", ["x"], {"of": ["z"], "with": ["v"]}, {}),
        (":grad of", "grad", ["of"], {}, {}),
        (":grad of.x of z", "grad", ["of.x"], {"of": ["z"]}, {}),
        (":grad x of z[1, 2]", "grad", ["x"], {"of": ["z[1, 2]"]}, {}),
        (":graph", "graph", [], {}, {}),
        (":graph z from x depth=3 to out/g.svg", "graph", ["z"], {"from": ["x"], "to": ["out/g.svg"]}, {"depth": "3"}),
        (":graph to g.svg", "graph", [], {"to": ["g.svg"]}, {}),
        (":graph z to 'my file.svg'", "graph", ["z"], {"to": ["my file.svg"]}, {}),
        (":graph depth=3", "graph", [], {}, {"depth": "3"}),
        (":save to ~/x.json", "save", [], {"to": ["~/x.json"]}, {}),
        (":save to -", "save", [], {"to": ["-"]}, {}),
        (":save to C:\\x\\y-1.json", "save", [], {"to": ["C:\\x\\y-1.json"]}, {}),
        (":load ~/x.json", "load", ["~/x.json"], {}, {}),
        (":load ../x/y.json", "load", ["../x/y.json"], {}, {}),
        (":load /tmp/x.json", "load", ["/tmp/x.json"], {}, {}),
        (":load out/x.json", "load", ["out/x.json"], {}, {}),
        (":load 'a b.json'", "load", ["'a b.json'"], {}, {}),
        (":check z wrt x", "check", ["z"], {"wrt": ["x"]}, {}),
        (":check f at x, [1, 2]", "check", ["f"], {"at": ["x", "[1, 2]"]}, {}),
        (":diff a, b", "diff", ["a", "b"], {}, {}),
        (":step backward z", "step", ["backward", "z"], {}, {}),
        (":set torch on", "set", ["torch"], {"on": []}, {}),
        (":set cuda cpu", "set", ["cuda", "cpu"], {}, {}),
        (":set width 100", "set", ["width", "100"], {}, {}),
        (":set width=100", "set", [], {}, {"width": "100"}),
        (":help for", "help", ["for"], {}, {}),
        (":help with", "help", ["with"], {}, {}),
        (":help lambda", "help", ["lambda"], {}, {}),
        (":help relu", "help", ["relu"], {}, {}),
        (":continue", "continue", [], {}, {}),
        (":break train", "break", ["train"], {}, {}),
        (":break 12", "break", ["12"], {}, {}),
        (":fit (x - 1) ** 2 wrt x, y by 'lbfgs' for 100", "fit", ["(x - 1) ** 2"],
        {"wrt": ["x", "y"], "by": ["'lbfgs'"], "for": ["100"]}, {}),
        (":time f(x, at=2)", "time", ["f(x, at=2)"], {}, {}),
        (":time [of for of in at]", "time", ["[of for of in at]"], {}, {}),
        (":time x if y else z", "time", ["x if y else z"], {}, {}),
        (":why x[1, 2] of z", "why", ["x[1, 2]"], {"of": ["z"]}, {}),
        (":plot x, y as line", "plot", ["x", "y"], {"as": ["line"]}, {}),
        (":export z to model.py", "export", ["z"], {"to": ["model.py"]}, {}),
        (":grad -x of z", "grad", ["-x"], {"of": ["z"]}, {}),
        (":derive z wrt x to d.grad", "derive", ["z"], {"wrt": ["x"], "to": ["d.grad"]}, {}),
        (":type x  # a comment", "type", ["x"], {}, {}),
        (":grad x of -z", "grad", ["x"], {"of": ["-z"]}, {}),
        (":grad ~x", "grad", ["~x"], {}, {}),
    ],
)  # fmt: skip
def test_arguments(
    text: str, name: str, first: list[str], words: dict[str, list[str]], options: dict[str, str]
) -> None:
    for line in (text, f"{text}\n", f"x = 1; {text}; y = 2"):
        if "#" not in line or line.startswith(":"):
            (call,) = calls(line)
            assert shape(call) == (name, first, words, options)


def test_wherever_a_simple_statement_may_stand() -> None:
    text = """\
if a: :one
for i in b:
    :two x; :three
    x[1:2]
def f():
    :four
    return lambda: 1
class A: :five
while c: x = 1; :six
try:
    :seven
finally: :eight
"""
    assert [call.name for call in calls(text)] == ["one", "two", "three", "four", "five", "six", "seven", "eight"]


def test_not_in_slices_annotations_and_lambdas() -> None:
    assert not calls("x[1:2]\nx[:grad]\ny: int = 3\n{1: 2, 3:x}\nlambda: x\nf(lambda: x)\nx[::2]\nx[a:b, c:d]\n")


def test_spans_names_and_text() -> None:
    (call,) = calls("x = 1\n  \n:grad ab, x.y of zz\n")
    assert (call.text, call.span.line, call.span.column, call.span.end_column) == (":grad ab, x.y of zz", 3, 1, 20)
    assert [(a.text, a.name, a.span.column, a.span.end_column) for a in call.arguments] == [
        ("ab", "ab", 7, 9),
        ("x.y", None, 11, 14),
        ("zz", "zz", 18, 20),
    ]


class Signature:
    def __init__(self, *modes: Any) -> None:
        self.modes = modes

    def check(self, call: CommandCall) -> Sequence[Any]:
        if len(call.arguments) != len(self.modes):
            raise fault(CommandError, f":{call.name} takes {len(self.modes)}")
        return self.modes


def test_modes() -> None:
    given: list[tuple[int, tuple[Any, ...]]] = []
    names = {**builtin_names(), **runtime_names(), ".command": lambda number, values: given.append((number, values))}
    text = "x = 2\n:go x + 1, x + 2, x + undefined of x\nx = 5\n"
    program = compile_program(
        Source.add("<test>", text), echo=False, signatures=lambda name: Signature("value", "thunk", "text", "value")
    )
    exec(program.code, {"__builtins__": names})
    ((number, values),) = given
    assert number == 0
    assert (values[0], values[2], values[3]) == (3, None, 2)
    assert values[1]() == 7
    assert "undefined" not in program.free_names
    assert program.commands[0].arguments[2].text == "x + undefined"


def test_values_where_nobody_says_otherwise() -> None:
    given: list[Any] = []
    names = {**builtin_names(), **runtime_names(), ".command": lambda number, values: given.append(values)}
    exec(
        compile_program(Source.add("<test>", "x = 2\ndef f(y):\n    :go x, y to out/a key=[y]\nf(3)"), echo=False).code,
        {"__builtins__": names},
    )
    assert given == [(2, 3, "out/a", [3])]


def test_commands_are_checked_before_anything_runs() -> None:
    with pytest.raises(CommandError, match="unknown command :nope") as unknown:
        calls("x = 1\n:nope x", lambda name: None)
    with pytest.raises(CommandError, match=":go takes 2") as wrong:
        calls("def f():\n    :go x\n", lambda name: Signature("value", "value"))
    for caught, line, column in ((unknown, 2, 1), (wrong, 2, 5)):
        details = details_of(caught.value)
        assert details is not None and isinstance(details.span, Span)
        assert (details.span.line, details.span.column) == (line, column)


def test_the_resolver_may_raise() -> None:
    def resolver(name: str) -> Any:
        raise CommandError(f"no :{name}")

    with pytest.raises(CommandError, match="no :a") as caught:
        calls(":a", resolver)
    assert details_of(caught.value) is not None


@pytest.mark.parametrize(
    "text", [":", ": 5", ":grad x of", ":grad x y z of", ":grad =", ":grad x,", ":a b c =", ":grad x to", ":grad to"]
)
def test_wrong_or_bare(text: str) -> None:
    try:
        (call,) = calls(text)
    except SyntaxError:
        return
    # A word that nothing follows is for the command's signature to refuse.
    assert text.rsplit(maxsplit=1)[-1] in (*call.words, call.arguments[-1].text)
