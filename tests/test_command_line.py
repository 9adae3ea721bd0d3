"""The command as shells and terminals see it: statuses, streams, pipes, locales, interrupts."""

from __future__ import annotations

import errno
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pexpect
import pytest
from support.running import Completed, command, environment, run_command, run_inside

if TYPE_CHECKING:
    from collections.abc import Iterator

PLACE = r"<stdin>:(\d+):(\d+): "


def shell(line: str, folder: Path, **env: str) -> Completed:
    """Run a line of bash in which gradsh is the command."""
    script = f'gradsh() {{ {shlex.join(command())} "$@"; }}\n{line}'
    done = subprocess.run(
        ["bash", "-c", script], check=False, capture_output=True, cwd=folder, env=environment(**env), timeout=60
    )
    return Completed(done.returncode, done.stdout.decode(), done.stderr.decode())


# ---- what a program prints


@pytest.mark.parametrize(
    ("program", "out"),
    [
        ("-2**2\n2**-1\n2**3**2\n(-2)**2\n-2**-2\n--2**2\n7//-2\n-7%3\n", "-4\n0.5\n512\n4\n-0.25\n4\n-4\n2\n"),
        ("1e400\n-1e400\n1e-324\n5e-324\n1e18446744073709551623\n", "inf\n-inf\n0.0\n5e-324\ninf\n"),
        (".5\n5.\n1_000\n0x1F\n0.1 + 0.2\n1e16 + 1\n", "0.5\n5.0\n1000\n31\n0.30000000000000004\n1e+16\n"),
        ("2**100\n", "1267650600228229401496703205376\n"),
        ("10**5000\n", "1" + "0" * 5000 + "\n"),
        ("for i in range(2):\n    print(i)", "0\n1\n"),
        ("for i in range(2):\n    print(i)\nprint(7)\n", "0\n1\n7\n"),
        ("1 + 1", "2\n"),
        ("1 + 1  # two\n# end", "2\n"),
        ("# only", ""),
        ("", ""),
        ("\n\n", ""),
        ('print("#1")\n', "#1\n"),
        ("\ufeffx = 2.0\r\nx * x\r\n", "4.0\n"),
    ],
)
def test_piped_programs(program: str, out: str) -> None:
    assert run_inside(stdin=program) == Completed(0, out, "")


@pytest.mark.parametrize(
    "program",
    [
        "x = param(3.0)\ny = x * x\n:grad x of y",
        "x = param(3.0)  # a\ny = x * x\n:grad x of y   # a command\n",
        "\ufeffx = param(3.0)\r\ny = x * x\r\n:backward y\r\n:grad x\r\n",
    ],
)
def test_commands_end_where_lines_end(program: str) -> None:
    done = run_inside(stdin=program)
    assert (done.status, done.err) == (0, "")
    assert "6." in done.out


def test_a_byte_order_mark_and_carriage_returns_in_a_script(tmp_path: Path) -> None:
    (tmp_path / "dos.grad").write_bytes(b"\xef\xbb\xbfx = 2.0\r\nif x > 1:\r\n    print(x)\r\n")
    assert run_inside("dos.grad", folder=tmp_path) == Completed(0, "2.0\n", "")


def test_a_reduction_of_a_number_is_the_first_that_needs_arrays() -> None:
    done = run_command("-e", "x = param(2.0); y = (0.5 * x).sum(); y.backward(); x.grad")
    assert done == Completed(0, "tensor(0.5000)\n", "")


def test_the_library_is_listed_by_a_process_that_has_used_none_of_it() -> None:
    done = run_command("-e", ":ops softmax")
    assert done.status == 0, done.err
    assert {"softmax", "log_softmax"} <= set(re.findall(r"^\w+", done.out, re.MULTILINE))


# ---- what fails


@pytest.mark.parametrize(
    ("program", "status", "error"),
    [
        ("nope\n", 1, PLACE + "NameError: name 'nope' is not defined"),
        ("1 +\n", 2, PLACE + "SyntaxError: "),
        ("print(1)\n1 +\n", 2, PLACE + "SyntaxError: "),
        ("x = param(1.0)\n:frobnicate x\n", 2, PLACE + "CommandError: "),
        ("5 \N{MINUS SIGN} 3\n", 2, r"<stdin>:1:3: SyntaxError: .*U\+2212"),
        ("print(\N{LEFT DOUBLE QUOTATION MARK}hi\N{RIGHT DOUBLE QUOTATION MARK})\n", 2, r"<stdin>:1:7: .*U\+201C"),
    ],
)
def test_errors_have_a_place_a_status_and_an_empty_output(program: str, status: int, error: str) -> None:
    done = run_inside(stdin=program)
    assert (done.status, done.out) == (status, "")
    assert re.match(error, done.err), done.err
    assert "Traceback" not in done.err


def test_a_no_break_space_is_named_or_is_a_space() -> None:
    done = run_inside(stdin="x\N{NO-BREAK SPACE}= 2\n")
    assert done == Completed(0, "", "") or (done.status == 2 and "U+00A0" in done.err), done


def test_a_missing_file(tmp_path: Path) -> None:
    done = run_inside("no/such/file.grad", folder=tmp_path)
    assert (done.status, done.out) == (2, "")
    assert "no/such/file.grad" in done.err
    assert os.strerror(errno.ENOENT) in done.err


def test_carets_count_cells_and_columns_count_characters() -> None:
    done = run_inside(stdin='print("日本語", nope)\n')
    assert done.err.startswith("<stdin>:1:14: NameError")
    source, carets = done.err.splitlines()[1:3]
    assert carets[carets.index("^") :].rstrip() == "^^^^"
    assert carets.index("^") - source.index("print") == len('print("", ') + 2 * len("日本語")


@pytest.mark.parametrize("tower", ["9**9**9**9", "(((9**64)**64)**64)**64", "1 << 10**10", "[0] * 10**12"])
def test_numbers_too_large_are_refused_at_once(tower: str) -> None:
    start = time.monotonic()
    done = run_command("-e", tower, timeout=20)
    assert time.monotonic() - start < 5
    assert done.status == 1
    assert "set_int_max_str_digits" not in done.err


@pytest.mark.parametrize("text", ["(" * 5000 + "1" + ")" * 5000, "-" * 5000 + "1", "[" * 3000 + "]" * 3000])
def test_deep_nesting_gives_a_value_or_one_error(text: str) -> None:
    done = run_command(stdin=text + "\n")
    assert done.status in (0, 1, 2), done
    assert "RecursionError" not in done.err
    assert "Traceback" not in done.err
    assert done.status == 0 or len(done.err.splitlines()) < 10


def test_nesting_without_end_is_a_syntax_error() -> None:
    done = run_command(stdin="[" * 200_000 + "]" * 200_000 + "\n")
    assert done.status == 2
    assert done.err.startswith("<stdin>:1:1: SyntaxError: expression nested too deeply (limit 1000)\n")


def test_nesting_of_a_thousand_is_in_reach() -> None:
    assert run_command(stdin="(" * 1000 + "1" + ")" * 1000 + "\n") == Completed(0, "1\n", "")


@pytest.mark.parametrize("expression", ["x.sum()", "x.prod()", "x.abs().sum()", "x.cumsum(0)", "F.logsigmoid(x).sum()"])
def test_an_op_of_arrays_may_be_the_first_to_need_numpy(expression: str) -> None:
    done = run_command("-e", f"x = param(2.0); {expression}")
    assert (done.status, done.err, done.out[:7]) == (0, "", "tensor(")


# ---- streams and surroundings


def test_a_reader_that_leaves_early(tmp_path: Path) -> None:
    line = "printf 'for i in range(200000):\\n    print(i)\\n' | gradsh | head -n 1; echo ${PIPESTATUS[1]}"
    done = shell(line, tmp_path)
    assert done.err == ""
    assert done.out in ("0\n141\n", "0\n0\n")


@pytest.mark.parametrize(
    ("line", "statuses", "error"),
    [
        ("gradsh <&-", (0, 2), ""),
        ("echo '1 + 1' | gradsh >&-", (1, 2), ""),
        ("echo nope | gradsh 2>&-", (1,), ""),
        pytest.param(
            "echo '1 + 1' | gradsh >/dev/full",
            (1,),
            os.strerror(errno.ENOSPC),
            marks=pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full"),
        ),
    ],
)
def test_closed_and_full_streams(line: str, statuses: tuple[int, ...], error: str, tmp_path: Path) -> None:
    done = shell(line, tmp_path)
    assert done.status in statuses, done
    assert error in done.err
    assert "Traceback" not in done.err
    assert "AttributeError" not in done.err
    assert "InternalError" not in done.err


def test_an_ascii_terminal() -> None:
    program = 'print("\N{PARTIAL DIFFERENTIAL}y")\n\N{LATIN SMALL LETTER E WITH ACUTE}t + 1\n'
    done = run_command(stdin=program, PYTHONIOENCODING="ascii", LC_ALL="C")
    assert done.out in ("\\u2202y\n", "?y\n")
    assert done.status == 1
    assert done.err.startswith("<stdin>:2:1: NameError")
    assert done.err.isascii()


def test_a_home_that_cannot_be_written() -> None:
    assert run_command(stdin="1 + 1\n", HOME="/nonexistent", XDG_CACHE_HOME="", XDG_STATE_HOME="") == Completed(
        0, "2\n", ""
    )


def test_interrupting_a_pipe() -> None:
    call = [*command(), "-e", "print('on')", "-e", "while True: pass"]
    process = subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())
    assert process.stdout is not None
    assert process.stdout.readline() == "on\n"
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=10)
    assert process.returncode in (130, -signal.SIGINT)
    assert "Traceback" not in err


def peak_memory(program: str) -> int:
    """Bytes that a run of gradsh holds at most."""
    process = subprocess.Popen([*command(), "-e", program], stdout=subprocess.DEVNULL, env=environment())
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def test_a_graph_is_freed_when_its_name_is_assigned_again() -> None:
    loop = (
        "w = param([1.0])\nbig = torch.ones(200000)\nfor i in range({}):\n"
        "    loss = ((w * big) ** 2).mean()\n    loss.backward()\n"
    )
    assert peak_memory(loop.format(200)) < peak_memory(loop.format(4)) + 50_000_000


# ---- a terminal


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[pexpect.spawn]:
    program, *arguments = command()
    child = pexpect.spawn(program, arguments, env=environment(TERM="dumb"), cwd=tmp_path, encoding="utf-8", timeout=20)
    child.expect_exact(">>> ")
    yield child
    child.close(force=True)


def test_interrupting_a_loop_at_the_prompt(terminal: pexpect.spawn) -> None:
    terminal.sendline("x = 5")
    terminal.expect_exact(">>> ")
    terminal.sendline("for i in range(10**9):")
    terminal.expect_exact("... ")
    terminal.sendline("    pass")
    terminal.expect_exact("... ")
    terminal.sendline("")
    time.sleep(0.5)
    terminal.sendintr()
    terminal.expect_exact("Interrupted", timeout=2)
    terminal.expect_exact(">>> ")
    terminal.sendline("x + 1")
    terminal.expect_exact("6")
    terminal.expect_exact(">>> ")
    terminal.sendeof()
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 0


def test_interrupting_a_half_typed_line_clears_it(terminal: pexpect.spawn) -> None:
    terminal.send("1 +")
    terminal.sendintr()
    terminal.expect_exact(">>> ")
    terminal.sendline("2 + 2")
    terminal.expect_exact("4")
    terminal.expect_exact(">>> ")
    terminal.sendline(":quit")
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 0
