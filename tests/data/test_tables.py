"""`read_csv` and tables that are saved: names, missing cells, and errors that name the cell."""

from __future__ import annotations

import csv
import math
import random
import time
from typing import TYPE_CHECKING

import pytest
from support.running import Completed, run_command, run_inside

from gradsh.session import Session

if TYPE_CHECKING:
    from pathlib import Path


def table(folder: Path, text: str | bytes, options: str = "", dialect: str = "shell") -> dict[str, object]:
    """The columns of a file, as lists."""
    path = folder / "t.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    session = Session(dialect=dialect)
    session.run(f'd = read_csv("{path}"{options})')
    return {name: column if isinstance(column, list) else column.tolist() for name, column in session["d"].items()}


@pytest.mark.parametrize(
    ("text", "options", "columns"),
    [
        ("x,y\n1,2\n3,4\n", "", {"x": [1, 3], "y": [2, 4]}),
        ("x,y\r\n1,2\r\n3,4", "", {"x": [1, 3], "y": [2, 4]}),
        ("\ufeffx\n1\n", "", {"x": [1]}),
        ("\n\nx\n1\n\n2\n\n", "", {"x": [1, 2]}),
        (' x , "y, z" \n 1 , 2 \n'.replace(' "y, z" ', '"y, z"'), "", {"x": [1], "y, z": [2]}),
        ("1,2\n3,4\n", "", {"0": [1, 3], "1": [2, 4]}),
        ("1,2\n3,4\n", ', names=["a", "b"]', {"a": [1, 3], "b": [2, 4]}),
        ("x,y\n3,4\n", ', names=["a", "b"], header=True', {"a": [3], "b": [4]}),
        ("1,2\n3,4\n", ", header=True", {"1": [3], "2": [4]}),
        ("1,2\n3,4\n", ", header=0", {"1": [3], "2": [4]}),
        ("1,2\n3,4\n", ", header=None", {"0": [1, 3], "1": [2, 4]}),
        ("x;y\n1;2\n", "", {"x": [1], "y": [2]}),
        ("x\ty\n1\t2\n", "", {"x": [1], "y": [2]}),
        ("x|y\n1|2\n", "", {"x": [1], "y": [2]}),
        ("1 2\n  3    4\n", "", {"0": [1, 3], "1": [2, 4]}),
        ("petal length\n1\n", "", {"petal length": [1]}),
        ("x:y\n1:2\n", ', sep=":"', {"x": [1], "y": [2]}),
        ('x,y\n"1","2"\n', "", {"x": [1], "y": [2]}),
        ('x,s\n1,"a\nb"\n2,"say ""hi"""\n', ', text="s"', {"x": [1, 2], "s": ["a\nb", 'say "hi"']}),
        ("x,s,y\n1,a,2\n", ', usecols=["y", "x"]', {"y": [2], "x": [1]}),
        ("x\nTrue\nfalse\n", "", {"x": [1, 0]}),
        ("x\n1e3\n-inf\n+.5\n", "", {"x": [1000, -math.inf, 0.5]}),
        ("x\n\n", "", {"x": []}),
        ("", "", {}),
        ("x,y\n1,\nNA,2\n", ", missing=-1", {"x": [1, -1], "y": [-1, 2]}),
        ("x\n9007199254740993\n", ", dtype=int64", {"x": [9007199254740993]}),
    ],
)
def test_columns_by_name(tmp_path: Path, text: str, options: str, columns: dict[str, list[float]]) -> None:
    assert table(tmp_path, text, options) == columns


@pytest.mark.parametrize("cell", ["", "NA", "N/A", "nan", "NaN", "null", "NULL", "None", " ", " NA "])
def test_missing_cells_are_nan(tmp_path: Path, cell: str) -> None:
    values = table(tmp_path, f"x,y\n1,{cell}\n")["y"]
    assert isinstance(values, list)
    assert len(values) == 1
    assert math.isnan(values[0])


def test_columns_have_the_default_type(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x\n0.1\n")
    code = 'd = read_csv("t.csv"); print(d["x"].dtype, read_csv("t.csv", dtype=torch.float64)["x"].dtype)'
    assert run_inside("-e", code, folder=tmp_path).out == "torch.float64 torch.float64\n"
    assert run_inside("--torch", "-e", code, folder=tmp_path).out == "torch.float32 torch.float64\n"


@pytest.mark.parametrize(
    ("text", "options", "error"),
    [
        ("x,y\n1,2\n3,oops\n", "", "ValueError: t.csv: row 2, column 'y': 'oops' is no number"),
        ("x,y\n1,2\n3,1_000\n", "", "ValueError: t.csv: row 2, column 'y': '1_000' is no number"),
        ("x,y\n1,\n", ', missing="error"', "ValueError: t.csv: row 1, column 'y': the cell is missing"),
        ("x,y\n1,2\n3\n", "", "ValueError: t.csv: row 2 has 1 cell, where the columns are 2"),
        ("x,y\n1,2,3\n", "", "ValueError: t.csv: row 1 has 3 cells, where the columns are 2"),
        ("x,x\n1,2\n", "", "ValueError: t.csv: two columns are called 'x'"),
        ("1,2\n", ', names=["a"]', "ValueError: t.csv has 2 columns, and 1 names were given"),
        ("x\n1\n", ', usecols=["z"]', """KeyError: "t.csv has no column 'z'\""""),
        ("x\n1.5\n", ", dtype=torch.int64", "ValueError: t.csv: row 1, column 'x': '1.5' is no number"),
        ("x\n1\n300\n", ", dtype=torch.uint8", "ValueError: t.csv: row 2, column 'x': '300' is no number"),
        ("x\n1\n", ', sep=""', "ValueError: read_csv: sep is one character, not ''"),
        ('x\n"1\n', "", "ValueError: t.csv: line 2: unexpected end of data"),
    ],
)
def test_errors_name_row_and_column(tmp_path: Path, text: str, options: str, error: str) -> None:
    (tmp_path / "t.csv").write_text(text)
    done = run_inside("-e", f'read_csv("t.csv"{options})', folder=tmp_path)
    assert done.status == 1
    assert done.err.split("\n")[0] == f"<eval>:1:1: {error}"


def test_rows_are_counted_over_many(tmp_path: Path) -> None:
    rows = ["x,y", *(f"{k},{k}" for k in range(120_000))]
    rows[110_001] = "1,what"
    (tmp_path / "t.csv").write_text("\n".join(rows))
    done = run_inside("-e", 'read_csv("t.csv")', folder=tmp_path)
    assert "t.csv: row 110001, column 'y': 'what' is no number" in done.err


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"x\n\xff\xfe\n")
    done = run_inside("-e", 'read_csv("t.csv")', folder=tmp_path)
    assert done.status == 1
    assert "ValueError: t.csv is no text in UTF-8" in done.err


def test_a_million_rows_in_seconds(tmp_path: Path) -> None:
    numbers = random.Random(0)
    first = [numbers.gauss(0, 1) for _ in range(1000)]
    with open(tmp_path / "t.csv", "w") as file:
        file.write("a,b,c\n")
        file.writelines(f"{first[k % 1000]!r},{k},{k % 7 or ''}\n" for k in range(1_000_000))
    start = time.monotonic()
    done = run_command("-e", 'd = read_csv("t.csv"); print(d, d["b"].sum().item())', folder=tmp_path)
    assert time.monotonic() - start < 20  # about two on a quiet machine
    assert done == Completed(0, f"1000000 rows of a, b, c {sum(range(1_000_000)):.1f}\n", "")


# ---- standard input


@pytest.mark.parametrize("program", [("-e", 'read_csv("-")["x"].sum()'), ("--echo", "p.grad")])
def test_standard_input_is_data_where_the_program_is_not_there(tmp_path: Path, program: tuple[str, ...]) -> None:
    (tmp_path / "p.grad").write_text('read_csv("-")["x"].sum()\n')
    assert run_command(*program, stdin="x\n1\n2\n", folder=tmp_path) == Completed(0, "tensor(3.)\n", "")


@pytest.mark.parametrize(
    "call", ['read_csv("-")', 'list(read_jsonl("-"))', 'read_json("-")', 'open("-")', 'read_text("-")']
)
def test_the_program_is_not_read_as_data(call: str) -> None:
    done = run_inside(stdin=f"{call}\n1\n2\n")
    assert (done.status, done.out) == (1, "")
    assert "ValueError: standard input holds the program, and so no data" in done.err


def test_what_is_typed_is_not_read_as_data() -> None:
    done = run_command("-i", "-e", 'read_text("-")', stdin="1 + 1\n")
    assert "ValueError: standard input holds what is typed at the prompt" in done.err


# ---- writing


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ('{"x": tensor([1.0, 0.1]), "s": ["a", "b,c"]}', 'x,s\n1.0,a\n0.1,"b,c"\n'),
        ("tensor([[1.0, 2.0], [3.0, 4.5]])", "1.0,2.0\n3.0,4.5\n"),
        ("tensor([1, 2])", "1\n2\n"),
        ("tensor([0.1], dtype=torch.float32)", "0.1\n"),
        ('{"n": [1, 2], "t": [True, False]}', "n,t\n1,True\n2,False\n"),
        ("[[1.5, 2.5]]", "1.5,2.5\n"),
    ],
)
def test_saved_tables(tmp_path: Path, value: str, text: str) -> None:
    done = run_inside("-e", f'save({value}, "t.csv")', folder=tmp_path)
    assert done == Completed(0, "", "")
    assert (tmp_path / "t.csv").read_text() == text


def test_tables_come_back_as_they_were(tmp_path: Path) -> None:
    code = '_ = torch.manual_seed(0); x = randn(50, 3); save(x, "t.csv"); y = read_csv("t.csv").tensor(); torch.equal(x, y)'
    assert run_inside("-e", code, folder=tmp_path).out == "True\n"
    with open(tmp_path / "t.csv", newline="") as file:
        assert [len(row) for row in csv.reader(file)] == [3] * 50


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (
            '{"x": [1], "y": [1, 2]}',
            "ValueError: the columns of a table are of one length, and these are not: x 1, y 2",
        ),
        ("zeros(2, 2, 2)", "ValueError: a table has rows and columns, and this has 3 dimensions: (2, 2, 2)"),
    ],
)
def test_what_is_no_table(tmp_path: Path, value: str, error: str) -> None:
    done = run_inside("-e", f'save({value}, "t.csv")', folder=tmp_path)
    assert error in done.err
    assert not list(tmp_path.iterdir())
