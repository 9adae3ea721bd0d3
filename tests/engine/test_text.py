"""Tensors are written as PyTorch 2.13 writes them; data/tensor_text.json holds what it printed."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradsh.backend.dtypes import BY_NAME
from gradsh.engine.text import PrintOptions, tensor_text

CASES = json.loads((Path(__file__).parent / "data" / "tensor_text.json").read_text())


def written(case: dict[str, Any], raw: Any) -> str:
    options = PrintOptions()
    for settings in case["options"]:
        options.set(**settings)
    return tensor_text(
        raw,
        dtype_name=case["dtype"],
        default_dtype=case["default"],
        options=options,
        suffixes=case["suffixes"],
    )


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_a_tensor_is_written_as_pytorch_writes_it(case: dict[str, Any]) -> None:
    array = np.array(case["values"], BY_NAME[case["dtype"]].code).reshape(case["shape"])
    assert written(case, array) == case["text"]


@pytest.mark.parametrize(
    "case", [case for case in CASES if not case["shape"] and case["dtype"] in ("float64", "int64")]
)
def test_a_number_is_written_as_the_tensor_it_stands_for(case: dict[str, Any]) -> None:
    assert written(case, case["values"]) == case["text"]


def test_layout_does_not_show() -> None:
    array = np.arange(6.0).reshape(2, 3)
    case = {"dtype": "float64", "default": "float64", "options": [], "suffixes": []}
    assert written(case, np.asfortranarray(array)) == written(case, array)
    assert written(case, array[:, ::2]) == "tensor([[0., 2.],\n        [3., 5.]])"


def test_the_options_given_back_restore_them() -> None:
    options = PrintOptions()
    options.set(profile="full", precision=2, sci_mode=True)
    kept = options.as_dict()
    assert kept == {"precision": 2, "threshold": math.inf, "edgeitems": 3, "linewidth": 80, "sci_mode": True}
    options.set(linewidth=40)
    assert options.sci_mode is None
    options.set(**kept)
    assert options.as_dict() == kept


def test_a_number_is_written_without_numpy() -> None:
    program = """if True:
        import sys
        from gradsh.engine.text import PrintOptions, tensor_text
        print(tensor_text(0.5, dtype_name="float64", default_dtype="float64", options=PrintOptions()))
        print("numpy" in sys.modules)
    """
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert answer == "tensor(0.5000)\nFalse\n"
