"""The prompt in a terminal: what is typed, what is shown, how one stops and leaves."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from support.terminal import CTRL_C, CTRL_D, CTRL_R, TAB, UP, Terminal

Opened = Callable[..., Terminal]

# ---- an exchange


@pytest.mark.parametrize(("columns", "colour"), [(80, True), (50, True), (50, False), (0, False)])
def test_the_first_example(opened: Opened, columns: int, colour: bool) -> None:
    terminal = opened(columns=columns, **({} if colour else {"NO_COLOR": "1"}))
    assert [line[:7] for line in terminal.lines()] == ["gradsh ", ">>>"]
    lines = ["x = param(2.0)", "y = param(3.0)", "z = x * y + y**2", ":backward z"]
    shown = terminal.answer(*lines, ":graph z")
    assert shown[:4] == [f">>> {line}" for line in lines]
    assert shown[4:7] == ["x.grad = 3.0", "y.grad = 8.0", ">>> :graph z"]
    assert shown[7].split() == ["z", "=", "x", "*", "y", "+", "y**2", "AddBackward0", "15.0", "grad", "1.0"]
    assert [line.lstrip("├─└│ ").split()[0] for line in shown[8:]] == ["x", "x", "y", "y**2", "y"]
    assert max(map(len, shown)) <= (columns or 80)
    assert bool(re.search(rb"\x1b\[[\d;]*3\dm", terminal.raw)) is colour
    assert terminal.leave() == 0


def test_errors_point_into_what_was_typed(opened: Opened) -> None:
    terminal = opened()
    shown = terminal.answer('print("日本語", nope)')
    assert shown[1].startswith("<input>:1:14: NameError: name 'nope' is not defined")
    assert shown[2:4] == ['    1 | print("日本語", nope)', "      |" + " " * 17 + "^^^^"]
    assert b"\x1b[1;31mNameError" in terminal.raw
    assert terminal.answer("def f(x):", "return x @ x.T", "") == [">>> def f(x):", "...     return x @ x.T"]
    shown = terminal.answer("f(torch.ones(2, 3)) + torch.ones(3)")
    assert "RuntimeError" in shown[1]
    assert [line for line in shown if set(line) <= set(" |^(),23") and "^" in line]


def test_the_last_value_and_sums_of_backward_runs(opened: Opened) -> None:
    terminal = opened()
    terminal.answer("x = param(3.0)", "2 + 3")
    assert terminal.answer("_ * 2")[-1] == "10"
    assert terminal.answer("(x * x).backward()", ":backward x * x")[2:] == [
        "x.grad = 12.0",
        "note: x.grad is the sum of 2 backward runs; :zero clears it",
    ]
    shown = terminal.answer(":grad x")
    assert shown[1:] == [
        "12.0",
        "note: x.grad is the sum of 2 backward runs: 6.0 ((x * x).backward()) + 6.0",
        "    (:backward x * x); :zero x clears it",
    ]
    assert len(terminal.answer(":zero", "for k in range(3):", ":backward x * k", "")) == 3  # a loop shows no leaves
    assert (
        terminal.answer(":grad x")[2]
        == "note: x.grad is the sum of 3 backward runs: 0.0 + 1.0 + 2.0; :zero x clears it"
    )


def test_lines_that_print_leaves_open_and_long_answers(opened: Opened) -> None:
    terminal = opened()
    assert terminal.answer('print("no end", end="")') == ['>>> print("no end", end="")', "no end"]
    shown = terminal.answer("for i in range(3000):", "    print(i, '界' * 50)", "", seconds=20)
    assert [line[:4] for line in shown[-2::-2][:3]] == ["2999", "2998", "2997"]


# ---- blocks


def test_a_block_is_indented_and_ends_at_an_empty_line(opened: Opened) -> None:
    terminal = opened()
    shown = terminal.answer("def sign(x):", "if x > 0:", "return 1", "else:", "return -1", "")
    assert shown == [
        ">>> def sign(x):",
        "...     if x > 0:",
        "...         return 1",
        "...     else:",
        "...         return -1",
    ]
    assert terminal.answer("[sign(3), sign(-3)]")[-1] == "[1, -1]"
    # Whoever indents by hand is not indented twice.
    shown = terminal.answer("for i in range(2):", "    for j in range(2):", "        print(i, j)", "    print()", "")
    assert shown[1:4] == ["...     for j in range(2):", "...         print(i, j)", "...     print()"]
    assert shown[4:] == ["0 0", "0 1", "", "1 0", "1 1", ""]
    assert terminal.answer("sum([", "1,", "2])")[-1] == "3"
    assert terminal.answer("'''a", "", "b'''")[-1] == "'a\\n\\nb'"


def test_wrong_input_is_reported_at_once_and_can_be_recalled(opened: Opened) -> None:
    terminal = opened()
    shown = terminal.answer("for i in range(3):", "print(i))")
    assert shown[1:3] == ["...     print(i))", "<input>:2:13: SyntaxError: unmatched ')'"]
    terminal.press(UP)
    assert terminal.lines()[-2:] == [">>> for i in range(3):", "...     print(i))"]
    terminal.press("\x7f", "\r", "\r")
    terminal.prompt()
    assert terminal.lines()[-4:-1] == ["0", "1", "2"]
    terminal.press(UP, "\r")  # a recalled block needs no empty line
    terminal.prompt()
    assert terminal.lines()[-6:-1] == [">>> for i in range(3):", "...     print(i)", "0", "1", "2"]


def test_a_paste_is_taken_whole(opened: Opened) -> None:
    terminal = opened()
    program = (
        "import torch\nimport torch.nn as nn\n\nclass Net(nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.layer = nn.Linear(2, 1)\n\n    def forward(self, x):\n\n"
        "        return self.layer(x)\n\nnet = Net()\nnet(torch.ones(3, 2)).shape\n"
    )
    terminal.paste(program)
    assert terminal.lines()[-1] == "... net(torch.ones(3, 2)).shape"
    terminal.press("\r")
    terminal.prompt()
    assert terminal.lines()[-2] == "torch.Size([3, 1])"
    terminal.paste("    >>> a = 4\n    >>> def twice(x):\n    ...     return 2 * x\n    ...\n    >>> twice(a)\n    8\n")
    assert terminal.lines()[-4:] == ["... def twice(x):", "...     return 2 * x", "...", "... twice(a)"]
    terminal.press("\r")
    terminal.prompt()
    assert terminal.lines()[-2] == "8"
    terminal.enter("for i in range(2):")
    terminal.paste("print(i)\n")  # a part of a block that is typed, which goes on
    terminal.press("\r")
    assert terminal.lines()[-3:] == [">>> for i in range(2):", "...     print(i)", "..."]


# ---- stopping and leaving


def test_ctrl_c_stops_a_loop_and_keeps_the_session(opened: Opened) -> None:
    terminal = opened()
    terminal.answer("x = 5")
    terminal.enter("while True: pass")
    terminal.press("\r")
    time.sleep(0.3)
    start = time.monotonic()
    terminal.child.send(CTRL_C)
    terminal.prompt()
    assert time.monotonic() - start < 1
    assert terminal.lines()[-3:] == ["^C", "Interrupted", ">>>"]
    terminal.child.send("y = 1 + ")
    terminal.settle()
    terminal.press(CTRL_C)  # a half-typed line is cleared
    terminal.prompt()
    terminal.press(CTRL_C)
    terminal.prompt()
    terminal.child.send("def f(:")
    terminal.settle()
    terminal.press(CTRL_D)  # only an empty line is left by it
    assert terminal.child.isalive()
    terminal.press(CTRL_C)
    terminal.prompt()
    assert terminal.answer("x, 'y' in dir()")[-1] == "(5, False)"
    assert terminal.leave() == 0


@pytest.mark.parametrize("farewell", [":quit", "exit()"])
def test_leaving_by_a_word(opened: Opened, farewell: str) -> None:
    terminal = opened(TERM="dumb")
    terminal.press(farewell + "\r")
    assert terminal.status() == 0


# ---- history


def test_the_history_outlives_the_conversation(opened: Opened, tmp_path: Path) -> None:
    terminal = opened()
    terminal.answer("def f(x):", "return x + 1", "")
    terminal.answer("a = f(1)")
    terminal.answer("nope")
    terminal.close()  # written after every input, so that nothing is lost
    terminal = opened()
    terminal.press(UP)
    assert terminal.lines()[-1] == ">>> nope"
    terminal.press(UP, UP)
    assert terminal.lines()[-2:] == [">>> def f(x):", "...     return x + 1"]
    terminal.press(CTRL_C, CTRL_R, "a =")
    assert terminal.lines()[-2].startswith(">>> a = f(1)")
    terminal.press("\r", CTRL_C)
    terminal.press("de", UP)  # what begins so
    assert terminal.lines()[-2:] == [">>> def f(x):", "...     return x + 1"]
    kept = tmp_path / ".local/state/gradsh/history"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert re.findall(r"^\+(.*)$", kept.read_text(), re.M) == ["def f(x):", "    return x + 1", "a = f(1)", "nope"]


@pytest.mark.parametrize("place", ["/proc", "a file"])
def test_a_home_that_cannot_be_written_costs_the_history_only(opened: Opened, tmp_path: Path, place: str) -> None:
    if place == "a file":
        (tmp_path / "file").write_text("")
        place = str(tmp_path / "file")
    terminal = opened(HOME=place)
    terminal.answer("1 + 1")
    assert terminal.answer("2 + 2")[-1] == "4"
    terminal.press(UP, UP)
    assert terminal.lines()[-1] == ">>> 1 + 1"
    assert terminal.raw.count(b"no history is kept") == 1
    terminal.press(CTRL_C)
    assert terminal.leave() == 0


# ---- completion


def test_completion_at_the_terminal(opened: Opened) -> None:
    terminal = opened()
    terminal.answer("x = param(2.0)")
    terminal.press("x.req", TAB)
    assert terminal.lines()[-3].startswith(">>> x.requires_grad")
    assert [line.split()[0] for line in terminal.lines()[-2:]] == ["requires_grad", "requires_grad_"]
    terminal.press(TAB, "\r", "\r")  # the first of them is taken, then the line is entered
    terminal.prompt()
    assert terminal.lines()[-2] == "True"
    terminal.press(":gr", TAB)
    assert terminal.lines()[-3] == ">>> :gra"
    assert [line.split()[:2] for line in terminal.lines()[-2:]] == [["grad", "Show"], ["graph", "Show"]]


# ---- surroundings


def test_a_simple_terminal_gets_no_escape_code(opened: Opened) -> None:
    terminal = opened(TERM="dumb", columns=0)
    shown = terminal.answer_plainly(
        "x = param(2.0)", "for k in range(2):", "    print(k)", "", ":backward x * 3", "nope +", "x.grad"
    )
    assert shown == [
        ">>> x = param(2.0)",
        ">>> for k in range(2):",
        "...     print(k)",
        "...",
        "0",
        "1",
        ">>> :backward x * 3",
        "x.grad = 3.0",
        ">>> nope +",
        *[line for line in shown if "SyntaxError" in line or "|" in line or "help:" in line],
        ">>> x.grad",
        "tensor(3.)",
    ]
    terminal.child.send("half")
    terminal.settle()
    terminal.child.send(CTRL_C)
    terminal.prompt()
    assert b"\x1b" not in terminal.raw
    assert terminal.leave() == 0


def test_results_go_where_output_goes_and_prompts_to_the_terminal(opened: Opened, tmp_path: Path) -> None:
    terminal = opened(shell="gradsh > results.txt")
    terminal.answer("x = 6")
    assert terminal.answer("x * 7") == [">>> x * 7"]
    assert (tmp_path / "results.txt").read_text() == "42\n"
    assert "NameError" in terminal.answer("nope")[1]
    assert terminal.leave() == 0


def test_a_program_first_then_the_prompt(opened: Opened, tmp_path: Path) -> None:
    (tmp_path / "first.grad").write_text("x = param(2.0)\nx * 2\nprint(x.item())\n")
    terminal = opened("-i", "first.grad")
    assert terminal.lines()[0] == "2.0"
    assert terminal.answer("x * 2")[-1] == "tensor(4., grad_fn=<MulBackward0>)"


def test_the_startup_file_runs_first_and_may_fail(opened: Opened, tmp_path: Path) -> None:
    folder = tmp_path / ".config/gradsh"
    folder.mkdir(parents=True)
    (folder / "init.grad").write_text("seven = 7\nseven\nnope\n")
    terminal = opened(TERM="dumb")
    assert re.match(r".*init\.grad:3:1:\s+NameError", terminal.text().replace("\n", ""))
    assert terminal.answer_plainly("seven") == [">>> seven", "7"]
