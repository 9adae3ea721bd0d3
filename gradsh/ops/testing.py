"""`torch.testing.assert_close`: an error that tells how far two values are apart."""

from __future__ import annotations

from gradsh.backend.dtypes import FLOATING
from gradsh.engine.create import NUMBERS, leaf, raw_of
from gradsh.engine.tensor import Tensor
from gradsh.fault import fault
from gradsh.ops.registry import function

TOLERANCES = {"float64": (1e-7, 1e-7), "float32": (1.3e-6, 1e-5), "float16": (1e-3, 1e-5)}


@function(at=("testing",), example="torch.testing.assert_close(ones(2), ones(2) + 1e-9)", python=True)
def assert_close(
    actual,
    expected,
    *,
    allow_subclasses=True,
    rtol=None,
    atol=None,
    equal_nan=False,
    check_device=True,
    check_dtype=True,
    check_layout=True,
    check_stride=False,
    msg=None,
):
    """Raise an AssertionError unless two tensors, numbers or lists of them are as good as equal."""
    if isinstance(actual, list | tuple) and isinstance(expected, list | tuple):
        if len(actual) != len(expected):
            message = f"The length of the sequences mismatch: {len(actual)} != {len(expected)}"
            raise fault(AssertionError, msg or message)
        for one, other in zip(actual, expected):
            assert_close(one, other, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=check_dtype, msg=msg)
        return
    one, other = (value if isinstance(value, Tensor) else leaf(raw_of(value)) for value in (actual, expected))
    check_dtype = check_dtype and not (isinstance(actual, NUMBERS) and isinstance(expected, NUMBERS))
    for what, checked in (("shape", True), ("dtype", check_dtype)):
        a, b = getattr(one, what), getattr(other, what)
        if checked and a != b:
            raise fault(AssertionError, msg or f"The values for attribute '{what}' do not match: {a!r} != {b!r}.")
    if (rtol is None) != (atol is None):
        missing, given = ("rtol", "atol") if rtol is None else ("atol", "rtol")
        message = f"Both 'rtol' and 'atol' must be either specified or unspecified, but got no {missing} and {given}"
        raise fault(ValueError, message)
    if rtol is None or atol is None:
        found = [TOLERANCES.get(value.dtype.name, (0.0, 0.0)) for value in (one, other)]
        rtol, atol = (max(pair) for pair in zip(*found))
    message = _difference(one, other, rtol, atol, equal_nan)
    if message is not None:
        raise fault(AssertionError, msg(message) if callable(msg) else msg or message)


def _difference(actual, expected, rtol, atol, equal_nan):
    """What is to be said of two tensors of one shape that are not close; None if they are."""
    from gradsh.backend import arrays

    floating = FLOATING in (actual.dtype.category, expected.dtype.category)
    a, b = (arrays.asarray(value.raw) for value in (actual, expected))
    a, b = (value.astype("f8" if floating else "i8") for value in (a, b))
    with arrays.errstate(all="ignore"):
        close = arrays.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)
        if close.all():
            return None
        absolute = abs(a - b)
        relative = absolute / abs(b)
    exact = not rtol and not atol
    kind = "equal" if exact else "close"
    limits = ["" if exact else f" (up to {limit} allowed)" for limit in (atol, rtol)]
    if not a.ndim:
        return (
            f"Scalars are not {kind}!\n\nExpected {b.item()} but got {a.item()}.\n"
            f"Absolute difference: {absolute.item()}{limits[0]}\nRelative difference: {relative.item()}{limits[1]}"
        )
    absolute, relative = (arrays.where(close, 0, value) for value in (absolute, relative))
    wrong, total = int((~close).sum()), close.size
    lines = [f"Tensor-likes are not {kind}!\n", f"Mismatched elements: {wrong} / {total} ({wrong / total:.1%})"]
    for name, values, limit in (("absolute", absolute, limits[0]), ("relative", relative, limits[1])):
        place = tuple(int(k) for k in arrays.unravel_index(values.argmax(), values.shape))
        lines.append(f"Greatest {name} difference: {values[place].item()} at index {place}{limit}")
    return "\n".join(lines)
