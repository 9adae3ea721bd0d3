"""Op records: one expression and what PyTorch answers for it, as a program and as a comparison.

A record holds `expr` over `torch`, `F`, `inf`, `nan` and `x0`, `x1`…; `inputs`; and either an `error`, or the `output`
(a tensor or a list of them), the `cotangent` of each, the `grads` of sum(cotangent · output) by each input, and perhaps
`grad2`: `weights` on those gradients, and the gradients of that sum. `backward_error` is what PyTorch says where
there is no derivative. A tensor is `values` (nested lists; inf and nan as strings), `shape`, `dtype`.
"""

from __future__ import annotations

import json
import math
import re
from contextlib import redirect_stdout
from io import StringIO
from typing import TYPE_CHECKING, Any

from gradsh.lang.locate import is_internal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gradsh import Session

Record = dict[str, Any]
Values = Any  # a number, or lists of Values

PRELUDE = "import torch\nimport torch.nn.functional as F\ninf = float('inf')\nnan = float('nan')\n"
TOLERANCES = {"float64": (1e-7, 1e-9)}
SINGLE = (1e-4, 1e-5)
PYTHON_TO_JSON = {"inf": "Infinity", "nan": "NaN", "True": "true", "False": "false"}


def faults(session: Session, record: Record) -> list[str]:
    """Run a record in a session; what is wrong with the answer."""
    if "error" in record:
        return wrong_error(session, inputs(record) + f"out = {record['expr']}\n", record["error"])
    printed = StringIO()
    try:
        with redirect_stdout(printed):
            session.run(program(record), name="record.py")
    except Exception as error:
        return [told(error)]
    found = differences(parse(printed.getvalue()), expected(record))
    if "backward_error" in record:
        found += wrong_error(session, inputs(record, requires_grad=True) + backward(record), record["backward_error"])
    return found


def wrong_error(session: Session, text: str, want: Mapping[str, str]) -> list[str]:
    try:
        with redirect_stdout(StringIO()):
            session.run(text, name="record.py")
    except Exception as error:
        right = not is_internal(error) and type(error).__name__ == want["type"] and want["message"] in str(error)
        return [] if right else [f"{told(error)}, not {want}"]
    return [f"no error, not {want}"]


def told(error: Exception) -> str:
    return f"{'internal ' if is_internal(error) else ''}{type(error).__name__}: {error}"


# ---- the program


def inputs(record: Record, requires_grad: bool | None = None) -> str:
    lines = []
    for number, tensor in enumerate(record["inputs"]):
        differentiable = tensor["requires_grad"] if requires_grad is None else tensor["dtype"].startswith("float")
        lines.append(f"x{number} = {literal(tensor, differentiable)}\n")
    return PRELUDE + "".join(lines)


def backward(record: Record) -> str:
    return f"({record['expr']}).sum().backward()\n"


def program(record: Record) -> str:
    """A program that prints one line `label dtype shape values` for each output and gradient of the record."""
    outs = outputs(record)
    lines = [f"out = {record['expr']}"]
    lines += [show(f"out{n}", name) for n, name, *_ in outs]
    weighted = [(name, out, cotangent) for _, name, out, cotangent in outs if cotangent is not None]
    if weighted and leaves(record):
        twice = "grad2" in record
        seeds = [literal({**out, "values": cotangent}) for _, out, cotangent in weighted]
        names = [name for name, *_ in weighted]
        lines.append(derivatives("first", names, record, seeds, ", create_graph=True" if twice else ""))
        lines += shown_gradients("grad", "first", record, record["grads"])
        if twice:
            weights = [(k, n, record["grad2"]["weights"][n]) for k, n in enumerate(leaves(record))]
            used = [(f"first[{k}]", n, weight) for k, n, weight in weights if weight is not None]
            seeds = [literal({**record["grads"][n], "values": weight}) for _, n, weight in used]
            lines.append(derivatives("second", [name for name, *_ in used], record, seeds))
            lines += shown_gradients("hess", "second", record, record["grad2"]["grads"])
    return inputs(record) + "\n".join(lines) + "\n"


def outputs(record: Record) -> list[tuple[int, str, Record, Values]]:
    """Number, expression, expected tensor and cotangent of each output."""
    if not isinstance(record["output"], list):
        return [(0, "out", record["output"], record["cotangent"])]
    pairs = zip(record["output"], record["cotangent"], strict=True)
    return [(n, f"out[{n}]", out, cotangent) for n, (out, cotangent) in enumerate(pairs)]


def leaves(record: Record) -> list[int]:
    return [n for n, tensor in enumerate(record["inputs"]) if tensor["requires_grad"]]


def derivatives(name: str, of: list[str], record: Record, seeds: list[str], more: str = "") -> str:
    wrt = ", ".join(f"x{n}" for n in leaves(record))
    seeding = ", ".join(seeds)
    return f"{name} = torch.autograd.grad([{', '.join(of)}], [{wrt}], [{seeding}], allow_unused=True{more})"


def shown_gradients(label: str, name: str, record: Record, want: list[Record | None]) -> Iterator[str]:
    for k, n in enumerate(leaves(record)):
        gradient = f"{name}[{k}]"
        yield f"print('{label}{n}', {gradient})" if want[n] is None else show(f"{label}{n}", gradient)


def show(label: str, name: str) -> str:
    return f"print('{label}', {name}.dtype, list({name}.shape), ({name}).tolist())"


def literal(tensor: Record, requires_grad: bool = False) -> str:
    """A tensor as an expression of the language."""
    more = f", dtype=torch.{tensor['dtype']}" + (", requires_grad=True" if requires_grad else "")
    if 0 in tensor["shape"]:
        return f"torch.zeros({tuple(tensor['shape'])}{more})"
    return f"torch.tensor({text(tensor['values'])}{more})"


def text(values: Values) -> str:
    if isinstance(values, list):
        return f"[{', '.join(map(text, values))}]"
    return values if isinstance(values, str) else repr(values)


# ---- the comparison


def parse(printed: str) -> dict[str, Record | None]:
    """The lines of a program, by label."""
    return {
        label: tensor
        for label, _, rest in (line.partition(" ") for line in printed.splitlines())
        for tensor in [read(rest)]
    }


def read(rest: str) -> Record | None:
    if rest == "None":
        return None
    dtype, _, rest = rest.partition(" ")
    shape, bracket, values = rest.partition("]")
    as_json = re.sub(r"inf|nan|True|False", lambda found: PYTHON_TO_JSON[found[0]], values)
    return {"dtype": dtype.removeprefix("torch."), "shape": json.loads(shape + bracket), "values": json.loads(as_json)}


def expected(record: Record) -> dict[str, Record | None]:
    """What the program of a record must print, by label."""
    outs = outputs(record)
    want: dict[str, Record | None] = {f"out{n}": out for n, _, out, _ in outs}
    if any(cotangent is not None for *_, cotangent in outs):
        want |= {f"grad{n}": record["grads"][n] for n in leaves(record)}
        if "grad2" in record:
            want |= {f"hess{n}": record["grad2"]["grads"][n] for n in leaves(record)}
    return want


def differences(got: Mapping[str, Record | None], want: Mapping[str, Record | None]) -> list[str]:
    found = [f"printed {sorted(got)}, not {sorted(want)}"] if got.keys() != want.keys() else []
    return found + [
        f"{label}: {fault}" for label in got.keys() & want.keys() for fault in unlike(got[label], want[label])
    ]


def unlike(got: Record | None, want: Record | None) -> list[str]:
    if got is None or want is None:
        return [] if got is want else [f"{got}, not {want}"]
    kinds = [f"{key} {got[key]}, not {want[key]}" for key in ("dtype", "shape") if got[key] != want[key]]
    relative, absolute = TOLERANCES.get(want["dtype"], SINGLE)
    if not kinds and not close(got["values"], want["values"], relative, absolute):
        return [f"values {got['values']}, not {want['values']}"]
    return kinds


def close(got: Values, want: Values, relative: float, absolute: float) -> bool:
    """Nested lists of numbers, equal within a tolerance; nan is equal to nan, and what is not a float must be equal."""
    if isinstance(want, list):
        return (
            isinstance(got, list)
            and len(got) == len(want)
            and all(close(g, w, relative, absolute) for g, w in zip(got, want, strict=True))
        )
    want = float(want) if isinstance(want, str) else want
    if got is None or isinstance(got, list):
        return False
    if not isinstance(want, float):
        return bool(got == want)
    if math.isnan(want) or math.isinf(want):
        return math.isnan(got) if math.isnan(want) else bool(got == want)
    return bool(abs(got - want) <= absolute + relative * abs(want))
