"""`torch.device`: where tensors live, which here is the one processor; asking for another is PyTorch's error."""

from __future__ import annotations

from gradsh.engine.state import state
from gradsh.fault import fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TYPES = (
    "cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla", "lazy",
    "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone",
)  # fmt: skip


class device:
    """A place for tensors: a type, and a number where there are several."""

    __slots__ = ("index", "type")
    __module__ = "torch"

    type: str
    index: int | None

    def __new__(cls, type: Any = None, index: int | None = None) -> device:
        if isinstance(type, device):
            return type
        if isinstance(type, int) and not isinstance(type, bool) and index is None:
            if not state.cuda_as_cpu:
                raise fault(
                    RuntimeError, "Cannot access accelerator device when none is available.", hint='device("cpu")'
                )
            type, index = "cuda", type
        if not isinstance(type, str):
            got = "" if type is None else type.__class__.__name__
            raise fault(
                TypeError,
                f"device() received an invalid combination of arguments - got ({got}), but expected one of:\n"
                " * (torch.device device)\n * (str type, int index = -1)\n",
                hint='device("cpu")',
            )
        kind, colon, number = type.partition(":")
        if not type:
            raise fault(RuntimeError, "Device string must not be empty")
        if not (kind.isascii() and kind.replace("_", "a").isalpha()) or (colon and not _is_index(number)):
            raise fault(RuntimeError, f"Invalid device string: '{type}'")
        if kind not in TYPES:
            raise fault(
                RuntimeError,
                f"Expected one of {', '.join(TYPES)} device type at start of device string: {kind}",
                hint='device("cpu")',
            )
        if colon and index is not None:
            message = f"type (string) must not include an index because index was passed explicitly: {type}"
            raise fault(RuntimeError, message)
        self = object.__new__(cls)
        object.__setattr__(self, "type", kind)
        object.__setattr__(self, "index", int(number) if colon else index)
        return self

    def __setattr__(self, name: str, value: Any) -> None:
        raise fault(AttributeError, f"attribute '{name}' of 'torch.device' objects is not writable")

    def __repr__(self) -> str:
        return (
            f"device(type={self.type!r})" if self.index is None else f"device(type={self.type!r}, index={self.index})"
        )

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __enter__(self) -> device:
        check_device(self)
        return self

    def __exit__(self, *details: object) -> None:
        return


def _is_index(text: str) -> bool:
    return text.isascii() and text.isdigit() and (text[0] != "0" or text == "0")


CPU = device("cpu")


def check_device(wanted: Any, function: str = "to") -> None:
    """Accept a `device=` argument that means this processor; refuse any other as PyTorch does without CUDA."""
    if wanted is None or wanted is CPU:
        return
    if not isinstance(wanted, device | str | int) or isinstance(wanted, bool):
        raise fault(TypeError, f"{function}(): argument 'device' must be torch.device, not {type(wanted).__name__}")
    place = device(wanted)
    if place.type == "cpu" or (place.type == "cuda" and state.cuda_as_cpu):
        return
    if place.type == "cuda":
        raise no_cuda()
    raise fault(
        RuntimeError,
        f"PyTorch is not linked with support for {place.type} devices",
        hint='device("cpu")',
        notes=("gradsh computes on the processor only",),
    )


def no_cuda() -> BaseException:
    return fault(
        AssertionError,
        "Torch not compiled with CUDA enabled",
        hint=":set cuda cpu takes the processor wherever a program asks for cuda",
    )
