"""JSON, arrays and states in files: what is written comes back, other programs read it, and no pickle is ever loaded."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import time
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from support.running import Completed, command, environment, run_command, run_inside

if TYPE_CHECKING:
    from pathlib import Path

STATE = "_ = torch.manual_seed(0); net = Linear(2, 3); "
SAME = "print(all(torch.equal(a, b) for a, b in zip(net.state_dict().values(), new.state_dict().values())))"


# ---- JSON


@pytest.mark.parametrize("text", ['{"a": [1, 2.5, null, true], "b": {"c": "é"}}', "[]", "3", '"x"', "\ufeff[1]"])
def test_json_is_read_as_it_is(tmp_path: Path, text: str) -> None:
    (tmp_path / "v.json").write_text(text, encoding="utf-8")
    done = run_inside("-e", 'print(repr(read_json("v.json")))', folder=tmp_path)
    assert done == Completed(0, repr(json.loads(text.removeprefix("\ufeff"))) + "\n", "")


def test_json_lines(tmp_path: Path) -> None:
    (tmp_path / "v.jsonl").write_text('{"x": 1}\n\n{"x": 2}\n')
    done = run_inside("-e", 'sum([row["x"] for row in read_jsonl("v.jsonl")])', folder=tmp_path)
    assert done == Completed(0, "3\n", "")


@pytest.mark.parametrize(
    ("name", "text", "error"),
    [
        ("v.json", '{"a": 1,\n "b" 2}', r"ValueError: v.json:2:6: this is no JSON: Expecting ':' delimiter"),
        ("v.jsonl", '{"x": 1}\n{"x": \n', r"ValueError: v.jsonl:2:"),
        ("v.json", "[" * 100_000, "ValueError: v.json:1: its lists are nested too deeply"),
    ],
)
def test_errors_in_json_have_a_place(tmp_path: Path, name: str, text: str, error: str) -> None:
    (tmp_path / name).write_text(text)
    done = run_command("-e", f'list(read_{name[2:]}("{name}"))', folder=tmp_path)
    assert done.status == 1
    assert error in done.err


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ('{"x": tensor([1.0, inf]), "n": None}', '{"x": [1.0, "inf"], "n": null}'),
        ("[tensor(1.5), (1, True), {2: nan}]", '[1.5, [1, true], {"2": "nan"}]'),
    ],
)
def test_values_are_written_as_json(tmp_path: Path, value: str, text: str) -> None:
    assert run_inside("-e", f'save({value}, "v.json")', folder=tmp_path) == Completed(0, "", "")
    assert (tmp_path / "v.json").read_text() == text + "\n"


def test_values_are_written_as_json_lines(tmp_path: Path) -> None:
    assert run_inside("-e", 'save([{"x": 1}, tensor([2.0])], "v.jsonl")', folder=tmp_path) == Completed(0, "", "")
    assert (tmp_path / "v.jsonl").read_text() == '{"x": 1}\n[2.0]\n'


@pytest.mark.parametrize("value", ["Linear(1, 1)", "sin", "{(1, 2): 3}", "{1, 2}"])
def test_what_json_cannot_hold(tmp_path: Path, value: str) -> None:
    done = run_inside("-e", f'save({value}, "v.json")', folder=tmp_path)
    assert done.status == 1
    assert "TypeError: " in done.err
    assert not list(tmp_path.iterdir())


# ---- arrays


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "int32", "uint8", "bool"])
@pytest.mark.parametrize("shape", [(), (3,), (2, 0), (2, 3)])
def test_arrays_of_numpy(tmp_path: Path, dtype: str, shape: tuple[int, ...]) -> None:
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    np.save(tmp_path / "a.npy", array)
    np.savez(tmp_path / "a.npz", first=array, second=array)
    code = 'save(load("a.npy"), "b.npy"); d = load("a.npz"); list(d); save(d, "b.npz")'
    assert run_inside("-e", code, folder=tmp_path) == Completed(0, "['first', 'second']\n", "")
    for found in (np.load(tmp_path / "b.npy"), np.load(tmp_path / "b.npz")["second"]):
        assert found.dtype == array.dtype
        np.testing.assert_array_equal(found, array)


class Evil:
    """What runs code when it is loaded from a pickle."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.mark),)


@pytest.mark.parametrize("kind", ["pickle", "npy", "npz", "torch"])
@pytest.mark.parametrize("call", ["load", "lambda f: torch.load(f, weights_only=False)"])
def test_no_pickle_is_loaded(tmp_path: Path, kind: str, call: str) -> None:
    mark, file = tmp_path / "mark", tmp_path / "f.pt"
    objects = np.array([Evil(mark)], dtype=object)
    with open(file, "wb") as made:
        if kind == "pickle":
            pickle.dump(Evil(mark), made)
        elif kind == "npy":
            np.save(made, objects, allow_pickle=True)
        elif kind == "npz":
            np.savez(made, x=objects)
        else:
            with zipfile.ZipFile(made, "w") as archive:
                archive.writestr("archive/data.pkl", pickle.dumps(Evil(mark)))
    done = run_inside("-e", f'({call})("f.pt")', folder=tmp_path)
    assert done.status == 1
    assert "RuntimeError: f.pt is a pickle, which can run any code when it is read" in done.err
    assert "help: in PyTorch: safetensors.torch.save_file" in done.err
    assert not mark.exists()


OTHER_KINDS = [
    b"", b"\x93NUMPY", b"\x93NUMPY\x01\x00\xff\xff{", b"PK\x03\x04", b"nothing", b"\x02\0\0\0\0\0\0\0{}x",
]  # fmt: skip


@pytest.mark.parametrize("data", OTHER_KINDS)
def test_files_of_other_kinds(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "f.pt").write_bytes(data)
    done = run_inside("-e", 'load("f.pt")', folder=tmp_path)
    assert (done.status, done.out) in ((1, ""), (0, "{}\n"))
    assert done.status == 0 or "RuntimeError: f.pt cannot be loaded: " in done.err


def test_an_array_that_says_it_is_larger_than_the_machine(tmp_path: Path) -> None:
    head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (100000000000000,)}\n"
    (tmp_path / "f.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + b"x")
    done = run_inside("-e", 'load("f.npy")', folder=tmp_path)
    assert done.status == 1
    assert "RuntimeError: f.npy cannot be loaded: " in done.err


# ---- states of modules


@pytest.mark.parametrize("name", ["m.pt", "m.pth", "m.npz", "m.safetensors"])
def test_states_come_back(tmp_path: Path, name: str) -> None:
    save = f'{STATE}torch.save(net.state_dict(), "{name}")'
    load = f'new = Linear(2, 3); new.load_state_dict(torch.load("{name}"))'
    assert run_inside("-e", f"{save}; {load}; {SAME}", folder=tmp_path).out == "<All keys matched successfully>\nTrue\n"


def test_safetensors_is_written_as_its_format_says(tmp_path: Path) -> None:
    """https://github.com/huggingface/safetensors#format"""
    run_inside("-e", 'save({"b": tensor([1.5, 2.5])}, "m.safetensors")', folder=tmp_path)
    data = (tmp_path / "m.safetensors").read_bytes()
    length = int.from_bytes(data[:8], "little")
    assert json.loads(data[8 : 8 + length]) == {"b": {"dtype": "F64", "shape": [2], "data_offsets": [0, 16]}}
    np.testing.assert_array_equal(np.frombuffer(data[8 + length :], "<f8"), [1.5, 2.5])


@pytest.mark.parametrize(
    ("name", "reader"), [("a.csv", "read_csv"), ("a.json", "read_json"), ("a.jsonl", "read_jsonl")]
)
def test_texts_are_read_by_their_own_functions(tmp_path: Path, name: str, reader: str) -> None:
    (tmp_path / name).write_text("x\n1\n")
    done = run_inside("-e", f'load("{name}")', folder=tmp_path)
    assert f'help: {reader}("{name}")' in done.err


# ---- whole or not at all

ENDINGS = ["csv", "json", "jsonl", "npy", "npz", "safetensors", "pt"]
VALUES = {"safetensors": '{"x": zeros(300000)}', "jsonl": "zeros(300000)"}


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_disk_that_is_full_leaves_the_old_file(tmp_path: Path, ending: str) -> None:
    target = tmp_path / f"f.{ending}"
    target.write_text("old")
    code = f'save({VALUES.get(ending, "zeros(300000)")}, "f.{ending}")'
    limited = ["bash", "-c", 'ulimit -f 100; exec "$@"', "bash", *command(), "-e", code]
    done = subprocess.run(limited, check=False, capture_output=True, cwd=tmp_path, env=environment(), timeout=60)
    assert done.returncode == 1
    assert b"OSError" in done.stderr
    assert b"InternalError" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == [target.name]
    assert target.read_text() == "old"


def test_a_process_that_is_killed_leaves_a_whole_file(tmp_path: Path) -> None:
    code = 'x = ones(500000)\nprint("on", flush=True)\nwhile True: save(x, "f.npy"); x = x + 1'
    for wait in (0.0, 0.05, 0.11):
        process = subprocess.Popen(
            [*command(), "-e", code], stdout=subprocess.PIPE, cwd=tmp_path, env=environment(), text=True
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "on\n"
        while not (tmp_path / "f.npy").exists():
            time.sleep(0.01)
        time.sleep(wait)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        found = np.load(tmp_path / "f.npy")
        assert found.shape == (500000,)
        assert len(set(found.tolist())) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="links and modes are POSIX's")
def test_a_file_is_replaced_as_a_redirection_would(tmp_path: Path) -> None:
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "real.csv").chmod(0o640)
    (tmp_path / "f.csv").symlink_to("real.csv")
    assert run_inside("-e", 'save([1], "f.csv")', folder=tmp_path) == Completed(0, "", "")
    assert (tmp_path / "f.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text() == "1\n"
    assert (tmp_path / "real.csv").stat().st_mode & 0o777 == 0o640


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    done = run_inside("-e", 'save([1], "no/f.csv")', folder=tmp_path)
    assert "RuntimeError: Parent directory of no/f.csv does not exist." in done.err
