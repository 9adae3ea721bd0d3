"""The constructors of PyTorch's first years: `torch.Tensor(2, 3)`, `FloatTensor([…])`, `Variable(t)`."""

from __future__ import annotations

from gradsh.backend import dtypes
from gradsh.engine.alias import C_TYPES, TYPE_NAMES, Alias
from gradsh.engine.create import PYTHON_TYPES, leaf, raw_of
from gradsh.engine.device import check_device, no_cuda
from gradsh.engine.state import state
from gradsh.engine.tensor import Parameter, Size, Tensor, new
from gradsh.fault import fault
from gradsh.ops.copying import handle
from gradsh.ops.creation import filled
from gradsh.ops.options import sizes, whole
from gradsh.ops.registry import NAMESPACES, bind_operator, constant, function, readable


def constructed(data, dtype, any_type=False):
    """What `torch.Tensor(…)` makes: memory of a shape for integers, a copy for a list, the same for a tensor.

    any_type: a tensor is taken whatever its element type.
    """
    if not data:
        return leaf(filled((0,), 0, dtype))
    first = data[0]
    if len(data) == 1:
        if isinstance(first, Tensor):
            if first.dtype is not dtype and not any_type:
                raise fault(
                    TypeError, f"expected {_options(dtype)} (got {_options(first.dtype)})", hint=".type(…) converts"
                )
            return handle(first, Alias.detached)
        if isinstance(first, str):
            raise fault(TypeError, "new(): invalid data type 'str'")
        if whole(first) is None and not isinstance(first, Size):
            if not hasattr(first, "__len__"):
                raise fault(
                    TypeError,
                    f"new(): data must be a sequence (got {type(first).__name__})",
                    hint=f"torch.tensor({first})",
                )
            return leaf(raw_of(first if hasattr(first, "dtype") else list(first), dtype))
    return leaf(filled(sizes("new", data), 0, dtype))


def _options(dtype):
    return (
        f"TensorOptions(dtype={C_TYPES[dtype.name]}, device=cpu, layout=Strided, requires_grad=false (default), "
        "pinned_memory=false (default), memory_format=(nullopt))"
    )


def _new_tensor(cls, *data, device=None):
    check_device(device, "new")
    if cls is not Tensor and issubclass(cls, Parameter):
        return new(cls)
    return constructed(data, state.default, any_type=True)


bind_operator("__new__", _new_tensor)


@function("new", at=("Tensor",))
def new_of(self, *data, device=None):
    """A tensor of this one's type, made as `torch.Tensor(…)` makes one."""
    check_device(device, "new")
    return constructed(data, self.dtype)


class TensorType:
    """`torch.FloatTensor` and its like: makes tensors of one element type, and stands for their type."""

    __slots__ = ("dtype", "module")

    is_cuda = False

    def __init__(self, dtype, module="torch"):
        self.dtype, self.module = dtype, module

    def __call__(self, *data, device=None):
        if self.module != "torch" and not state.cuda_as_cpu:
            raise fault(
                TypeError,
                f"type {self.name} not available. Torch not compiled with CUDA enabled.",
                hint=":set cuda cpu",
            )
        check_device(device, "new")
        return constructed(data, self.dtype)

    @property
    def name(self):
        return f"{self.module}.{TYPE_NAMES[self.dtype.name]}Tensor"

    def __instancecheck__(self, value):
        return isinstance(value, Tensor) and value.dtype is self.dtype and self.module == "torch"

    def __repr__(self):
        return f"<class '{self.name}'>"


readable(TensorType, ("dtype", "is_cuda"))
for _dtype in dtypes.ALL:
    for _place in ("torch", "cuda"):
        _type = TensorType(_dtype, "torch" if _place == "torch" else "torch.cuda")
        constant(f"{TYPE_NAMES[_dtype.name]}Tensor", _type, at=(_place,))


def named_type(value):
    """The element type that `type(…)` or `set_default_tensor_type` is asked for."""
    if isinstance(value, str):
        module, _, name = value.rpartition(".")
        if module == "torch.cuda" and not state.cuda_as_cpu:
            raise no_cuda()
        value = NAMESPACES["torch"].get(name) if module in ("torch", "torch.cuda") else value
    if value is Tensor:
        return state.default
    if isinstance(value, TensorType):
        if value.module != "torch" and not state.cuda_as_cpu:
            raise no_cuda()
        return value.dtype
    shown = value.__name__ if isinstance(value, type) else value
    hint = f"torch.{PYTHON_TYPES[value]}" if isinstance(value, type) and value in PYTHON_TYPES else None
    raise fault(ValueError, f"invalid type: '{shown}'", hint=hint)


class _VariableType(type):
    def __instancecheck__(cls, value):
        return isinstance(value, Tensor)


class Variable(metaclass=_VariableType):
    """What a tensor that records was once called: `Variable(t, requires_grad=True)` is another handle of `t`."""

    __module__ = "torch.autograd.variable"

    def __new__(cls, data=None, requires_grad=False, volatile=False):
        if data is None:
            return constructed((), state.default)
        if not isinstance(data, Tensor):
            message = f"Variable data has to be a tensor, but got {type(data).__name__}"
            raise fault(TypeError, message, hint="torch.tensor(…, requires_grad=True)")
        made = handle(data, Alias.detached)
        return made.requires_grad_() if requires_grad else made


constant("Variable", Variable, at=("autograd",))
