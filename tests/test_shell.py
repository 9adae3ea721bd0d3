"""gradsh among other programs: its arguments and statuses, scripts, pipelines, and lines that are answered as they come."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from support.running import ROOT, Completed, command, environment, run_command, run_inside

PAGE = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")


def shell(line: str, folder: Path, **env: str) -> Completed:
    """Run a line of bash in which gradsh is a command."""
    programs = folder / "bin"
    programs.mkdir()
    script = programs / "gradsh"
    script.write_text(f'#!/bin/sh\nexec {shlex.join(command())} "$@"\n')
    script.chmod(0o755)
    done = subprocess.run(
        ["bash", "-c", f"PATH={shlex.quote(str(programs))}:$PATH\n{line}"],
        check=False,
        capture_output=True,
        cwd=folder,
        env=environment(**env),
        timeout=60,
    )
    return Completed(done.returncode, done.stdout.decode(), done.stderr.decode())


# ---- statuses


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("gradsh -e 1", 0),
        ("gradsh --help", 0),
        ("gradsh --version", 0),
        ("gradsh </dev/null", 0),
        ("gradsh -e :quit -e nope", 0),
        ("gradsh -i -e :quit <<< nope", 0),
        ("gradsh --keep-going -e nope -e :quit -e 1", 1),
        ("gradsh check good.grad", 0),
        ("gradsh -e nope", 1),
        ("gradsh -e 'raise ValueError(3)'", 1),
        ("gradsh -e 'assert False'", 1),
        ("gradsh -e ':grad 3'", 1),
        ("gradsh check bad.grad", 1),
        ("gradsh check bad.grad good.grad", 1),
        ("gradsh -e '1 +'", 2),
        ("gradsh -e ':frobnicate'", 2),
        ("gradsh -e ':grad'", 2),
        ("gradsh -e 'return 1'", 2),
        ("gradsh -e '(1).__class__.__bases__'", 2),
        ("gradsh nofile.grad", 2),
        ("gradsh .", 2),
        ("gradsh ''", 2),
        ("gradsh --bogus", 2),
        ("gradsh -e", 2),
        ("gradsh --seed x -e 1", 2),
        ("gradsh --width -1 -e 1", 2),
        ("gradsh --dtype int8 -e 1", 2),
        ("gradsh --echo=1 -e 1", 2),
        ("gradsh -3", 2),
        ("gradsh check", 2),
        ("gradsh check good.grad nofile.grad", 2),
        ("gradsh check bad.grad wrong.grad", 2),
        ("printf '\\xff' | gradsh", 2),
        ("gradsh --keep-going -e nope -e 1", 1),
        ("gradsh --keep-going -e '1 +' -e nope", 2),
        pytest.param("gradsh -e 1 >/dev/full", 1, marks=FULL),
        ("gradsh -e 1 >&-", 1),
        ("gradsh -e 'while True: print(1)' | head -n 1; exit ${PIPESTATUS[0]}", 141),
        ("gradsh -e 'print(1, flush=True)' -e 'while True: pass' & sleep 1; kill -INT $!; wait $!", 130),
    ],
)
def test_statuses(line: str, status: int, tmp_path: Path) -> None:
    (tmp_path / "good.grad").write_text("x = 1\nx\n")
    (tmp_path / "bad.grad").write_text("nope\n")
    (tmp_path / "wrong.grad").write_text("1 +\n")
    done = shell(f"set -m; {line}", tmp_path)  # with jobs, as Ctrl-C needs
    assert done.status == status, done
    assert "Traceback" not in done.err
    assert "InternalError" not in done.err


def test_every_status_stands_in_the_page() -> None:
    listed = {int(found) for found in re.findall(r"^\| (\d+) \|", PAGE, re.MULTILINE)}
    assert listed == {0, 1, 2, 130, 141}


# ---- arguments


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["-e", "args"], []),
        (["-e", "args", "a", "b"], ["a", "b"]),
        (["-e", "args", "-3", "4"], ["-3", "4"]),
        (["-e", "args", "-.5", "--seed", "1"], ["-.5", "--seed", "1"]),
        (["-e", "args", "--", "-3", "--seed"], ["-3", "--seed"]),
        (["-e", "args", "--", "--", "x"], ["--", "x"]),
        (["--echo", "show.grad"], []),
        (["--echo", "show.grad", "-3", "--seed", "--", "x"], ["-3", "--seed", "--", "x"]),
        (["--echo", "--", "show.grad", "-1"], ["-1"]),
        (["--echo", "--", "-odd.grad", "-1"], ["-1"]),
        (["-", "-1", "x y"], ["-1", "x y"]),
    ],
)
def test_arguments(arguments: list[str], shown: list[str], tmp_path: Path) -> None:
    (tmp_path / "show.grad").write_text("args\n")
    (tmp_path / "-odd.grad").write_text("args\n")
    assert run_inside(*arguments, stdin="args\n", folder=tmp_path) == Completed(0, f"{shown}\n", "")


def test_negative_numbers_as_values() -> None:
    assert run_inside("--seed", "-3", "-e", "-2 - 1").out == "-3\n"
    assert run_inside("-e", "-3").out == "-3\n"
    assert run_inside("-e-3").out == "-3\n"


def test_pieces_of_code_share_their_names_and_a_file_is_an_argument(tmp_path: Path) -> None:
    (tmp_path / "f.grad").write_text("nope")
    assert run_inside("-e", "x = 2", "-e", "x, args", "f.grad", folder=tmp_path) == Completed(
        0, "(2, ['f.grad'])\n", ""
    )


def test_the_prompt_after_a_file_or_code_knows_their_names(tmp_path: Path) -> None:
    (tmp_path / "f.grad").write_text("x = 40\n")
    for given in (["f.grad", "a", "-2"], ["-e", "x = 40", "a", "-2"]):
        done = run_command("-i", *given, stdin="x + len(args)\nargs", folder=tmp_path)
        assert done == Completed(0, "42\n['a', '-2']\n", "")


def test_what_is_typed_after_a_failed_program_is_run() -> None:
    assert run_command("-i", "-e", "x = 1; nope", stdin="x + 1\n").out == "2\n"


def test_a_script_that_is_a_command(tmp_path: Path) -> None:
    script = tmp_path / "add"
    script.write_text("#!/usr/bin/env gradsh\nprint(sum([float(a) for a in args]))\n")
    script.chmod(0o755)
    assert shell("./add 1 -2.5 4", tmp_path) == Completed(0, "2.5\n", "")


# ---- check, and going on


def test_check_reports_on_every_file(tmp_path: Path) -> None:
    for name, text in {"a.grad": "nope\nx = nought\n", "b.grad": "1 +\n", "c.py": "x = 1 ^ 2\nprint(x)\n"}.items():
        (tmp_path / name).write_text(text)
    done = run_inside(
        "check", "a.grad", "b.grad", "c.py", "-", "-e", "other", stdin="def f(): return f\n", folder=tmp_path
    )
    assert (done.status, done.out) == (2, "")
    assert re.findall(r"^(\S+:\d+:\d+): (\w+)", done.err, re.MULTILINE) == [
        ("<eval>:1:1", "NameError"),
        ("a.grad:1:1", "NameError"),
        ("a.grad:2:5", "NameError"),
        ("b.grad:1:4", "SyntaxError"),
    ]


def test_check_runs_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.grad").write_text('save([1], "out.csv")\nprint(1)\n')
    assert run_inside("check", "a.grad", folder=tmp_path) == Completed(0, "", "")
    assert not (tmp_path / "out.csv").exists()


def test_going_on_after_errors() -> None:
    program = (
        "print(1); nope; print(2)\ndef f():\n    return 1 / 0\nf()\n"
        "for i in 1, 2:\n    print(i)\n    nope\nx = 3; :grad x of x; x\n"
    )
    done = run_inside("--keep-going", stdin=program)
    assert (done.status, done.out) == (1, "1\n2\n1\n3\n")
    assert re.findall(r"^<stdin>:(\S+): (\w+)", done.err, re.MULTILINE) == [
        ("1:11", "NameError"),
        ("3:12", "ZeroDivisionError"),
        ("7:5", "NameError"),
        ("8:14", "TypeError"),
    ]


def test_going_on_runs_nothing_of_a_text_that_is_wrong() -> None:
    for wrong in ("1 +", ":frobnicate", "return 1", "x.__dict__"):
        done = run_inside("--keep-going", "-e", f"print(1)\n{wrong}\nprint(2)", "-e", "print(3)")
        assert (done.status, done.out) == (2, "3\n")


def test_going_on_through_many_statements_takes_no_longer_for_each() -> None:
    def seconds(count: int) -> float:
        start = time.monotonic()
        assert run_inside("--keep-going", stdin="x = 1\n" * count).status == 0
        return time.monotonic() - start

    assert seconds(4000) < 20 * seconds(400) + 1


# ---- pipelines


@pytest.mark.parametrize(
    ("line", "out"),
    [
        ("seq 5 | gradsh -e 'for line in open(\"-\"): print(float(line) ** 2)' | head -n 2", "1.0\n4.0\n"),
        ("gradsh -e 'for i in range(3): print(i, i * i)' | awk '{ s += $2 } END { print s }'", "5\n"),
        ("gradsh -e 'x = param(3.0)' -e ':grad x of x * x' | tee out; cat out", "6.0\n6.0\n"),
        ("echo '2 + 2' | gradsh | gradsh -e 'int(read_text(\"-\")) * 2'", "8\n"),
        ("seq 4 | awk '{ print $1, $1 * 2 }' | gradsh -e 'read_csv(\"-\").tensor().sum(0)'", "tensor([10., 20.])\n"),
        ("gradsh -e 'print(args)' $(seq 3)", "['1', '2', '3']\n"),
        ("echo 'print(1)' > p.grad; seq 3 | gradsh p.grad; seq 3 | gradsh -e 2", "1\n2\n"),
    ],
)
def test_pipelines(line: str, out: str, tmp_path: Path) -> None:
    assert shell(line, tmp_path) == Completed(0, out, "")


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")
def test_values_from_jq_and_to_it(tmp_path: Path) -> None:
    line = (
        "echo '{\"x\": [1, 2, 3]}' | jq -c . | gradsh --json -e "
        "'x = param(read_json(\"-\")[\"x\"])' -e ':grad x of (x ** 2).sum()' | jq -c .values"
    )
    assert shell(line, tmp_path) == Completed(0, "[2,4,6]\n", "")


@pytest.mark.parametrize(
    "program",
    [
        'for line in open("-"): print(float(line) ** 2)',
        'for line in open("-"): float(line) ** 2',
        'for x in read_jsonl("-"): print(float(x) ** 2)',
        'f = open("-")\nwhile line := f.readline(): print(float(line) ** 2)',
    ],
)
def test_each_line_is_answered_at_once(program: str) -> None:
    call = [*command(), "-e", program]
    process = subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment())
    assert process.stdin is not None
    assert process.stdout is not None
    for number in range(1, 4):
        process.stdin.write(f"{number}\n")
        process.stdin.flush()
        assert process.stdout.readline() == f"{number * number:.1f}\n"  # would wait forever for what is held back
    process.stdin.close()
    assert process.stdout.read() == ""
    assert process.wait(timeout=20) == 0
    process.stdout.close()


@pytest.mark.parametrize(
    ("line", "status", "error"),
    [
        ("gradsh -e 'open(\"-\").read()' <&-", 1, "ValueError: standard input is closed"),
        ("gradsh -e nope 2>&-", 1, ""),
        ("gradsh -e nope >&- 2>&-", 1, ""),
        ("gradsh --json -e 1 >&-", 1, "standard output is closed"),
        pytest.param("gradsh -e 'print(1)' -e 2 >/dev/full", 1, "No space left", marks=FULL),
        pytest.param("gradsh --json -e 1 >/dev/full", 1, "No space left", marks=FULL),
        pytest.param("gradsh --help >/dev/full", 1, "No space left", marks=FULL),
        pytest.param("gradsh -e nope 2>/dev/full", 1, "", marks=FULL),
        pytest.param("gradsh -e 'save([1], \"/dev/full\")'", 1, "OSError: [Errno 28] No space left", marks=FULL),
    ],
)
def test_streams_that_take_nothing(line: str, status: int, error: str, tmp_path: Path) -> None:
    done = shell(line, tmp_path)
    assert done.status == status, done
    assert error in done.err
    assert not re.search(r"Traceback|InternalError|Exception ignored|AttributeError", done.err)
