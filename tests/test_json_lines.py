"""`--json` prints what docs/json.md says: every kind with exactly these fields, for jq and for anyone."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from support import markdown
from support.running import ROOT, command, environment, run_command, run_inside

if TYPE_CHECKING:
    from pathlib import Path

PAGE = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
SETUP = "x = param([1.0, 2.0]); y = (x * x).sum(); n = 3"


def fields(kind: str, more: str = "") -> set[str]:
    """The fields that the page lists for a kind, those of the rows `… more` under it included; what is of others is not."""
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in PAGE.split("\n") if line.startswith("| ")]
    found, inside = {"kind"}, False
    for name, _, listed in rows:
        if not name.strip().startswith("…"):
            inside = f"`{kind}`" in name
        if inside and (not name.strip().startswith("…") or name.strip(" …") in more.split(" + ")):
            listed = re.sub(r": [^;,]*?(?=[;,]|$)", "", listed) if kind not in LISTS else listed.partition(": of ")[0]
            found |= set(re.findall(r"`(\w+)`", listed))
    return found


LISTS = ("vars", "ops", "backward", "graph", "plan")  # whose last field is a list of objects


def lines(*arguments: str) -> list[dict[str, Any]]:
    done = run_inside("--json", *arguments)
    assert done.err == "" or arguments[-1].startswith("1 / 0") or "sqrt" in arguments[-1], done.err
    return [json.loads(line) for line in (done.out + done.err).splitlines()]


@pytest.mark.parametrize(
    ("code", "kind", "more"),
    [
        ("'a'", "value", ""),
        ("n", "value", "of a number"),
        ("x", "value", "of a number + of a tensor"),
        ("print(1, x)", "print", ""),
        ("print(x)", "print", "of one number or tensor"),
        (":grad x of y", "grad", ""),
        (":graph y", "graph", ""),
        (":vars", "vars", ""),
        (":type x", "type", ""),
        (":type 'a'", "type", ""),
        (":ops softplus", "ops", ""),
        (":help relu", "help", ""),
        (":set", "set", ""),
        (":plan", "plan", ""),
        (":source Linear", "source", ""),
        (":time 1 + 1", "time", ""),
        ("1 / 0", "error", ""),
        ("z = sqrt(x * 0).sum(); :grad x of z", "warning", ""),
    ],
)
def test_every_kind_has_the_fields_that_the_page_lists(code: str, kind: str, more: str) -> None:
    found = next(one for one in lines("-e", SETUP, "-e", code) if one["kind"] == kind)
    listed = fields(kind, more)
    assert set(found) == (listed - {"dtype", "shape"} if code == ":type 'a'" else listed)


def test_accumulated_gradients_say_what_they_are_the_sum_of() -> None:
    (found,) = lines("-e", SETUP, "-e", ":backward y; :grad x")
    assert set(found) == fields("grad") | {"runs"}
    assert found["of"] is None
    assert [(run["shape"], run["values"]) for run in found["runs"]] == [([2], [2.0, 4.0])]


def test_nodes_of_a_graph() -> None:
    (found,) = lines("-e", SETUP, "-e", ":graph y")
    row = next(line for line in PAGE.split("\n") if line.startswith("| … its nodes"))
    assert all(set(node) == set(re.findall(r"`(\w+)`", row)) for node in found["nodes"])
    ids = [node["id"] for node in found["nodes"]]
    assert all(start in ids and end in ids and isinstance(index, int) for start, end, index in found["edges"])
    assert found["nodes"][0]["span"] == [1, 28, 1, 41]


def test_every_kind_that_there_is_stands_in_the_page() -> None:
    kinds = {
        kind
        for path in (ROOT / "gradsh" / "view").glob("*.py")
        for kind in re.findall(r'^    kind = "(\w+)"', path.read_text(), re.M)
    }
    listed = set(
        re.findall(r"`(\w+)`", " ".join(line.split("|")[1] for line in PAGE.split("\n") if line.startswith("| `")))
    )
    assert kinds - {"record"} | {"error", "warning", "version"} == listed


def test_every_line_is_an_object() -> None:
    program = 'print("a\\nb", end="")\nprint()\nx = param(nan)\nx\n[x, 1]\n"\u2028\u2603"\n:grad x of x * inf\n'
    done = run_command("--json", stdin=program)
    assert (done.status, done.err) == (0, "")
    kinds = [json.loads(line)["kind"] for line in done.out.split("\n")[:-1]]
    assert kinds == ["print", "print", "value", "value", "value", "grad"]


def test_the_version_of_the_schema() -> None:
    (found,) = lines("--version")
    assert set(found) == fields("version")
    assert found["schema"] == 1
    assert f"version {found['schema']} of\nthe schema" in PAGE


STEPS = [step for block in markdown.blocks(PAGE) if block.language == "sh" for step in markdown.steps(block.text)]


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")
@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.command[:50])
def test_with_jq(step: markdown.Step, tmp_path: Path) -> None:
    script = f'gradsh() {{ {" ".join(command())} "$@"; }}\n{step.command}'
    done = subprocess.run(["bash", "-c", script], capture_output=True, check=False, cwd=tmp_path, env=environment())
    assert done.stdout.decode() == step.output
