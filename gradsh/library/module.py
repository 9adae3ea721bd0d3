"""Module: what layers and models are made of. It knows its parameters, buffers and submodules by name."""

from __future__ import annotations

from gradsh.backend.dtypes import FLOATING, DType
from gradsh.engine.state import no_grad
from gradsh.engine.tensor import Parameter, Tensor
from gradsh.fault import fault
from gradsh.lang import members
from gradsh.library import lazy, module_state, parametrized
from gradsh.library.lazy import UninitializedParameter
from gradsh.library.module_hooks import Hooked, call_with_hooks
from gradsh.library.module_members import INIT_FIRST, Members, assign_hint
from gradsh.ops.types import typename

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections import OrderedDict
    from collections.abc import Callable
    from typing import Any


class Buffer(Tensor):
    """`nn.Buffer(data)`: assigned to a module's attribute, the tensor becomes one of the module's buffers."""

    __slots__ = ()
    persistent = True

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Buffer:
        from gradsh.engine.alias import Alias
        from gradsh.engine.tensor import new_empty

        made: Buffer = object.__new__(cls if persistent else _PassingBuffer)
        made.raw = new_empty() if data is None else data.raw
        made.extra = None if data is None or data.raw.__class__ is float else Alias.untracked(data)
        made.grad = made.node = None
        return made


class _PassingBuffer(Buffer):
    """A buffer that `state_dict` leaves out."""

    __slots__ = ()
    persistent = False


def _forward_unimplemented(self: Module, *input: Any) -> None:
    raise fault(
        NotImplementedError,
        f'Module [{type(self).__name__}] is missing the required "forward" function',
        hint="def forward(self, x): in the class, indented as its __init__ is",
    )


class Module(Members, Hooked):
    """Base of all layers and models: parameters, buffers and submodules are found by assigning them to attributes."""

    training: bool
    forward: Callable[..., Any] = _forward_unimplemented
    _version = 1

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if kwargs:
            raise fault(
                TypeError, f"{type(self).__name__}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'"
            )
        if args:
            raise fault(
                TypeError,
                f"{type(self).__name__}.__init__() takes 1 positional argument but {len(args) + 1} were given",
            )
        self.__dict__.update(
            training=True, _parameters={}, _buffers={}, _modules={}, _non_persistent_buffers_set=set(), _hooks=None
        )

    # ---- calling

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._hooks is None:
            return self.forward(*args, **kwargs)
        return call_with_hooks(self, args, kwargs)

    # ---- attributes

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        if "_modules" not in own:
            what = "parameters" if isinstance(value, Parameter) else "module" if isinstance(value, Module) else "buffer"
            if what != "buffer" or isinstance(value, Buffer):
                raise fault(AttributeError, f"cannot assign {what} before Module.__init__() call", hint=INIT_FIRST)
            object.__setattr__(self, name, value)
        elif isinstance(value, Parameter):
            self._forget(name, "_buffers", "_modules")
            self.register_parameter(name, value)
        elif name in own["_parameters"]:
            if value is not None:
                raise fault(
                    TypeError,
                    f"cannot assign '{typename(value)}' as parameter '{name}' (torch.nn.Parameter or None expected)",
                    hint=assign_hint(name, value),
                )
            self.register_parameter(name, None)
        elif isinstance(value, Module):
            self._forget(name, "_parameters", "_buffers")
            own["_modules"][name] = own[name] = value
        elif name in own["_modules"]:
            if value is not None:
                raise fault(
                    TypeError,
                    f"cannot assign '{typename(value)}' as child module '{name}' (torch.nn.Module or None expected)",
                )
            own["_modules"][name] = own[name] = None
        elif isinstance(value, Buffer):
            persistent = value.persistent
            value.__class__ = Tensor  # type: ignore[assignment]  # a plain tensor from here on, which ops know best
            self._forget(name)
            self.register_buffer(name, value, persistent)
        elif name in own["_buffers"]:
            if value is not None and not isinstance(value, Tensor):
                expected = "torch.nn.Buffer, torch.Tensor or None expected"
                raise fault(TypeError, f"cannot assign '{typename(value)}' as buffer '{name}' ({expected})")
            own["_buffers"][name] = own[name] = value
        else:
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        """Only reached where there is no such attribute: put into `_parameters` and the like directly, or an error."""
        own = self.__dict__
        if "_modules" not in own:
            name = "_backward_hooks" if name == "_hooks" else name  # PyTorch's error for a call before __init__
            hint = INIT_FIRST if name.startswith("_") else None
            raise fault(AttributeError, f"'{type(self).__name__}' object has no attribute '{name}'", hint=hint)
        for registry in (own["_parameters"], own["_buffers"], own["_modules"]):
            if name in registry and name[:2] != "__":  # numpy asks every object for such names
                return registry[name]
        raise fault(AttributeError, f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name: str) -> None:
        if name in self._parameters or name in self._buffers or name in self._modules:
            self._forget(name, "_parameters", "_buffers", "_modules")
        else:
            object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        names = {*dir(type(self)), *self.__dict__, *self._parameters, *self._buffers, *self._modules}
        return sorted(name for name in names if not name[0].isdigit())

    def _start_lazy(self) -> None:
        """Have the first call run `initialize_parameters(*inputs)` and make this module a `cls_to_become`."""
        lazy.start(self)

    def _start_parametrized(self, name: str) -> None:
        parametrized.start(self, name)

    def _end_parametrized(self, name: str, last: bool) -> None:
        parametrized.end(self, name, last)

    def _type_before_parametrizations(self) -> type:
        return type(self).__bases__[0] if parametrized.is_parametrized(self) else type(self)

    # ---- changing all members

    def apply(self, fn: Callable[[Module], Any]) -> Module:
        """Call `fn` with every submodule, then with this one."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def train(self, mode: bool = True) -> Module:
        """Set `training` of this module and of all below it: dropout and batch normalisation look at it."""
        if not isinstance(mode, bool):
            raise fault(ValueError, "training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Module:
        """The same as train(False)."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Module:
        """Make all parameters record what is computed from them, or not."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters, or fill them with zeros."""
        for parameter in self.parameters():
            gradient: Any = parameter.grad
            if gradient is None or set_to_none:
                parameter.grad = None
            else:
                gradient.detach_().zero_()

    def _apply(self, fn: Callable[[Any], Any], recurse: bool = True) -> Module:
        """Replace what every parameter, gradient and buffer holds by `fn` of it."""
        if recurse:
            for module in self.children():
                module._apply(fn, recurse)
        parameter: Any
        for parameter in self._parameters.values():
            if isinstance(parameter, UninitializedParameter):
                parameter.convert(fn)
            elif parameter is not None:
                with no_grad():
                    parameter.data = fn(parameter)
                    if parameter.grad is not None:
                        parameter.grad.data = fn(parameter.grad)
        for name, buffer in self._buffers.items():
            if isinstance(buffer, UninitializedParameter):
                buffer.convert(fn)
            elif buffer is not None:
                self._buffers[name] = self.__dict__[name] = fn(buffer)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Module:
        """Move to a device, or take floating parameters and buffers to a type: `to(torch.float64)`, `to("cpu")`."""
        targets = [*args, kwargs.get("dtype"), kwargs.get("tensor")]
        dtypes = [
            value if isinstance(value, DType) else value.dtype for value in targets if isinstance(value, DType | Tensor)
        ]
        for dtype in dtypes:
            if dtype.category != FLOATING:
                raise fault(
                    TypeError,
                    f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}",
                )
        return self._apply(
            lambda tensor: tensor if dtypes and not tensor.is_floating_point() else tensor.to(*args, **kwargs)
        )

    def cpu(self) -> Module:
        return self._apply(lambda tensor: tensor.cpu())

    def cuda(self, device: Any = None) -> Module:
        return self._apply(lambda tensor: tensor.cuda(device))

    def float(self) -> Module:
        """Take floating parameters and buffers to float32."""
        return self._apply(lambda tensor: tensor.float() if tensor.is_floating_point() else tensor)

    def double(self) -> Module:
        """Take floating parameters and buffers to float64."""
        return self._apply(lambda tensor: tensor.double() if tensor.is_floating_point() else tensor)

    def half(self) -> Module:
        """Take floating parameters and buffers to float16."""
        return self._apply(lambda tensor: tensor.half() if tensor.is_floating_point() else tensor)

    def type(self, dst_type: Any) -> Module:
        """Take all parameters and buffers to a type."""
        return self._apply(lambda tensor: tensor.type(dst_type))

    def share_memory(self) -> Module:
        """Nothing to do: there is one process."""
        return self

    # ---- state

    def state_dict(
        self, *args: Any, destination: Any = None, prefix: Any = "", keep_vars: Any = False
    ) -> OrderedDict[str, Any]:
        """Parameters and persistent buffers by dotted name, without gradients; `load_state_dict` takes them back."""
        if args:
            destination, prefix, keep_vars = [*args, *(destination, prefix, keep_vars)[len(args) :]]
        return module_state.save(self, destination, prefix, keep_vars)

    def load_state_dict(
        self, state_dict: Any, strict: bool = True, assign: bool = False
    ) -> module_state._IncompatibleKeys:
        """Copy values by dotted name into parameters and buffers; with `assign`, put these tensors in their place."""
        return module_state.load(self, state_dict, strict, assign)

    _save_to_state_dict = module_state.save_own
    _load_from_state_dict = module_state.load_own
    get_extra_state = set_extra_state = module_state.no_extra_state

    # ---- text

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """What stands in the brackets of the module's text; to be overridden."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        if len(lines) == 1 and not self._modules:
            return f"{self._get_name()}({lines[0]})"
        lines += [f"({name}): {indented(repr(module))}" for name, module in self._modules.items()]
        inside = "\n  ".join(lines)
        return f"{self._get_name()}(\n  {inside}\n)" if lines else f"{self._get_name()}()"


Module.__module__ = "torch.nn.modules.module"
members.OWN.update((Module, Members, Hooked))


def indented(text: str) -> str:
    """A text with every line but the first moved two places in."""
    first, *rest = text.split("\n")
    return "\n".join([first, *("  " + line if line.strip() else "" for line in rest)])
