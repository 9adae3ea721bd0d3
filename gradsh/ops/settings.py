"""Settings of the library: default types, how tensors print, and the switches of machines that are not there."""

from __future__ import annotations

from gradsh.backend.dtypes import FLOATING, DType
from gradsh.engine.device import CPU, check_device, no_cuda
from gradsh.engine.state import state
from gradsh.fault import fault
from gradsh.ops.legacy import named_type
from gradsh.ops.registry import attribute, constant, function, readable

VERSION = "2.13.0"  # of the PyTorch whose answers are given


@function(at=("torch",), python=True)
def get_default_dtype():
    """The element type of floats given as Python numbers."""
    return state.default


@function(at=("torch",), example="set_default_dtype(torch.float32)", python=True)
def set_default_dtype(d):
    """Make an element type that of floats given as Python numbers."""
    if not isinstance(d, DType):
        raise fault(TypeError, "invalid dtype object: only floating-point types are supported as the default type")
    if d.category != FLOATING:
        raise fault(TypeError, "only floating-point types are supported as the default type", hint="torch.float64")
    state.default = d


@function(at=("torch",), python=True)
def set_default_tensor_type(t):
    """As `set_default_dtype`, by the name of a tensor type: `torch.DoubleTensor`."""
    set_default_dtype(t if isinstance(t, DType) else named_type(t))


@function(at=("torch",), python=True)
def get_default_device():
    """The device that tensors are made on."""
    return CPU


@function(at=("torch",), python=True)
def set_default_device(device):
    """Accepted for the processor; PyTorch's error for any other."""
    check_device(device, "set_default_device")


@function(at=("torch",), example="set_printoptions(precision=2)", python=True)
def set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None):
    """Set how tensors are written."""
    state.print_options.set(precision, threshold, edgeitems, linewidth, profile, sci_mode)


# ---- where a tensor is


@attribute
def device(self):
    """Where the tensor is: the processor."""
    return CPU


@attribute
def layout(self):
    """How the tensor lies in memory: `torch.strided`."""
    from gradsh.ops.options import strided

    return strided


def _never(name):
    def no(self):
        return False

    no.__name__ = name
    no.__doc__ = "False: tensors here are dense, and on the processor."
    attribute(no)


for _name in (
    "is_cuda",
    "is_sparse",
    "is_sparse_csr",
    "is_quantized",
    "is_meta",
    "is_mps",
    "is_xpu",
    "is_mkldnn",
    "is_nested",
):
    _never(_name)


@attribute
def is_cpu(self):
    """True: the tensor is on the processor."""
    return True


@function(at=("Tensor",))
def get_device(self):
    """The number of the device: -1 for the processor."""
    return -1


@function(at=("Tensor",))
def pin_memory(self):
    """The tensor itself: there is no device to copy it to."""
    return self


@function(at=("Tensor",))
def is_pinned(self):
    """False: there is no device to copy the tensor to."""
    return False


@function(at=("Tensor",))
def share_memory_(self):
    """The tensor itself: there is one process."""
    return self


@function(at=("Tensor",))
def is_shared(self):
    """False: there is one process."""
    return False


# ---- devices that are not there


class Switches:
    """Settings of a backend that programs set and nothing here reads: `torch.backends.cudnn.benchmark = True`."""

    def __init__(self, **values):
        self.__dict__.update(values)

    def is_available(self):
        return self.available

    def is_built(self):
        return self.available

    available = False
    deterministic = False


SWITCHES = (
    "allow_bf16_reduced_precision_reduction", "allow_fp16_reduced_precision_reduction", "allow_tf32", "benchmark",
    "benchmark_limit", "deterministic", "enabled", "flags", "fp32_precision",
)  # fmt: skip
readable(Switches, ("is_available", "is_built", "matmul", *SWITCHES), SWITCHES)
constant("cudnn", Switches(deterministic=False, benchmark=False, enabled=True, allow_tf32=True), at=("backends",))
constant("cuda", Switches(matmul=Switches(allow_tf32=False)), at=("backends",))
constant("mps", Switches(), at=("backends",))
for _name in ("mkl", "mkldnn", "openmp", "cpu"):
    constant(_name, Switches(available=True, deterministic=False, enabled=True), at=("backends",))


def _refuse(*args, **settings):
    raise no_cuda()


def _nothing(*args, **settings):
    return None


for _name in (
    "empty_cache",
    "ipc_collect",
    "manual_seed",
    "manual_seed_all",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
):
    constant(_name, _nothing, at=("cuda",))
for _name in (
    "current_device", "current_stream", "get_device_capability", "get_device_name", "get_device_properties", "init",
    "mem_get_info", "set_device", "synchronize", "Event", "Stream",
):  # fmt: skip
    constant(_name, _refuse, at=("cuda",))
for _name, _value in (
    ("is_available", False), ("is_initialized", False), ("device_count", 0), ("memory_allocated", 0),
    ("max_memory_allocated", 0), ("memory_reserved", 0), ("max_memory_reserved", 0), ("is_bf16_supported", False),
):  # fmt: skip
    constant(_name, lambda *args, value=_value, **settings: value, at=("cuda",))


class Absent:
    """A kind of device that is not there: `torch.mps`, `torch.xpu`, `torch.accelerator`."""

    __slots__ = ()

    def is_available(self):
        return False

    def device_count(self):
        return 0

    def current_accelerator(self, check_available=False):
        return None

    manual_seed = staticmethod(_nothing)
    empty_cache = staticmethod(_nothing)


readable(Absent, ("is_available", "device_count", "current_accelerator", "manual_seed", "empty_cache"))
for _name in ("mps", "xpu", "accelerator"):
    constant(_name, Absent())


ALGORITHMS = Switches(deterministic=False)


@function(at=("torch",), python=True)
def use_deterministic_algorithms(mode, *, warn_only=False):
    """Accepted: all algorithms here are deterministic."""
    ALGORITHMS.deterministic = bool(mode)


@function(at=("torch",), python=True)
def are_deterministic_algorithms_enabled():
    """What was last asked of `use_deterministic_algorithms`."""
    return ALGORITHMS.deterministic


for _name in (
    "set_num_threads", "set_num_interop_threads", "set_float32_matmul_precision", "set_warn_always",
    "set_flush_denormal",
):  # fmt: skip
    constant(_name, _nothing)
for _name in ("get_num_threads", "get_num_interop_threads"):
    constant(_name, lambda: 1)
constant("get_float32_matmul_precision", lambda: "highest")

constant("__version__", VERSION, at=("torch", "version"))
constant("cuda", None, at=("version",))
constant("git_version", None, at=("version",))
