"""Inputs that broke tools of this kind, from public reports: right numbers, or facts that an error must state."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.records import Values, close
from support.running import Completed, run_inside

if TYPE_CHECKING:
    from support.not_yet import NotYet

CASES = {
    case["id"]: case
    for line in (Path(__file__).parent / "data" / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    for case in [json.loads(line)]
    if case["input_type"] == "program"
}
SECONDS = {"a36-deep-chain": 20, "a37-diamond": 2}
FACTS = {
    "c01-nonleaf-grad-none": ["y", "leaf", ":grad y of z"],
    "c03-int-requires-grad": ["int64", "floating point", "float"],
    "c04-inplace-saved": ["exp", "y", "3:", "y = y * 2"],
    "c05-second-backward": ["y", "3:", "retain"],
    "c07-vector-backward": ["b", "(3,)", "b.sum()"],
    "c10-leaf-view-inplace": [":3:", "x", "leaf"],
    "c14-unused-input": ["u", "y"],
    "c15-chained-comparison": [":4:", "(2,)", "(0 < x) & (x < 0.5)"],
}


@pytest.mark.parametrize("name", CASES)
def test_case(name: str, tmp_path: Path, not_yet: NotYet) -> None:
    case = CASES[name]
    (tmp_path / "case.grad").write_text(case["input"] + "\n", encoding="utf-8")
    expected = case["expected"]
    start = time.perf_counter()
    if expected.get("error"):
        found = missing_facts(run_inside("case.grad", folder=tmp_path), FACTS[name])
    else:
        found = wrong_values(run_inside("--json", "case.grad", folder=tmp_path), expected)
    if time.perf_counter() - start > SECONDS.get(name, 60):
        found.append(f"took more than {SECONDS.get(name, 60)} s")
    not_yet.judge({f"cases/{name}": found})


def missing_facts(done: Completed, facts: list[str]) -> list[str]:
    if done.status == 0:
        return ["no error"]
    found = [f"no {fact!r} in\n{done.err}" for fact in facts if fact not in done.err]
    return [*found, *(["a Python traceback"] if "Traceback" in done.err else [])]


def wrong_values(done: Completed, expected: dict[str, Any]) -> list[str]:
    """Compare the values shown; PyTorch's own nan is as good where a warning explains it."""
    if done.status:
        return [f"exit status {done.status}: {done.err}"]
    try:
        got = [record["values"] for record in map(json.loads, done.out.splitlines()) if "values" in record]
    except ValueError:
        return [f"standard output is not JSON lines: {done.out}"]
    want = [output["value"] for output in expected["outputs"]]
    absolute = 0.0 if "atol 0" in expected["tolerance"] else 1e-12
    if same(got, want, absolute) or ("Warning" in done.err and same(got, expected.get("torch_outputs"), absolute)):
        return []
    return [f"{got}, not {want}\n{done.err}"]


def same(got: list[Values], want: list[Values] | None, absolute: float) -> bool:
    return close(numbers(got), numbers(want), 1e-9, absolute)


def numbers(values: Values) -> Values:
    """Every number as a float: inf and nan are strings in JSON, and 8 is as good as 8.0 here."""
    if isinstance(values, list):
        return [numbers(value) for value in values]
    return None if values is None else float(values)
