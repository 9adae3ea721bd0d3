"""What belongs to a module by name: registering parameters, buffers and submodules, finding and listing them."""

from __future__ import annotations

from gradsh.engine.tensor import Parameter, Tensor
from gradsh.fault import fault
from gradsh.lang.names import refuse_closed
from gradsh.ops.types import typename

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gradsh.library.module import Module

ABSENT: Any = object()
INIT_FIRST = "super().__init__() as the first line of __init__"


def assign_hint(name: str, value: Any) -> str | None:
    """What to write where a tensor is assigned in the place of a parameter."""
    if not isinstance(value, Tensor):
        return None
    return f"nn.Parameter(…) around it, or .{name}.data = … to change what it holds"


class Members:
    """The part of Module that knows what belongs to it.

    `_parameters`, `_buffers` and `_modules` say which attributes are which, in order; the values themselves are
    plain attributes as well, so that reading `self.weight` costs nothing.
    """

    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]

    # ---- registering

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter; None keeps the name for one that is absent."""
        self._check_name("parameter", name, "_parameters")
        if param is not None and not isinstance(param, Parameter):
            raise fault(
                TypeError,
                f"cannot assign '{typename(param)}' object to parameter '{name}' (torch.nn.Parameter or None required)",
                hint=assign_hint(name, param),
            )
        if param is not None and param.grad_fn is not None:
            raise fault(
                ValueError,
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created explicitly. "
                f"To express '{name}' as a function of another Tensor, compute the value in the forward() method.",
            )
        self._parameters[name] = self.__dict__[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that belongs to the state but is not trained; `state_dict` has it where it is persistent."""
        self._check_name("buffer", name, "_buffers")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise fault(
                TypeError,
                f"cannot assign '{typename(tensor)}' object to buffer '{name}' (torch Tensor or None required)",
            )
        self._buffers[name] = self.__dict__[name] = tensor
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a submodule; the same as assigning it to the attribute."""
        if module is not None and not isinstance(module, Members):
            raise fault(TypeError, f"{typename(module)} is not a Module subclass")
        self._check_name("module", name, "_modules")
        self._modules[name] = self.__dict__[name] = module

    def register_module(self, name: str, module: Module | None) -> None:
        """The same as add_module."""
        self.add_module(name, module)

    def _check_name(self, what: str, name: Any, registry: str) -> None:
        if registry not in self.__dict__:
            raise fault(AttributeError, f"cannot assign {what} before Module.__init__() call", hint=INIT_FIRST)
        if not isinstance(name, str):
            raise fault(TypeError, f"{what} name should be a string. Got {typename(name)}")
        if "." in name:
            found = f", got: {name}" if what == "module" else ""
            raise fault(KeyError, f'{what} name can\'t contain "."{found}')
        if name == "":
            raise fault(KeyError, f'{what} name can\'t be empty string ""')
        refuse_closed(name)
        if name not in self.__dict__[registry] and (name in self.__dict__ or hasattr(type(self), name)):
            raise fault(KeyError, f"attribute '{name}' already exists")

    # ---- looking up by a path of names

    def get_submodule(self, target: str) -> Module:
        """The submodule at a dotted path; "" is this module."""
        found: Any = self
        for name in target.split(".") if target else ():
            if not hasattr(found, name):
                raise fault(AttributeError, f"{found._get_name()} has no attribute `{name}`")
            found = getattr(found, name)
            if not isinstance(found, Members):
                raise fault(AttributeError, f"`{name}` is not an nn.Module")
        return found  # type: ignore[no-any-return]

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Put a module at a dotted path; `strict` refuses a path where there is none yet."""
        if target == "":
            raise fault(ValueError, "Cannot set the submodule without a target name!")
        if not isinstance(module, Members):
            raise fault(ValueError, f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        refuse_closed(name)
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise fault(AttributeError, f"{parent._get_name()} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Members):
            raise fault(AttributeError, f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a dotted path."""
        found = self._member(target)
        if not isinstance(found, Parameter):
            raise fault(AttributeError, f"`{target.rpartition('.')[2]}` is not an nn.Parameter")
        return found

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a dotted path."""
        path, _, name = target.rpartition(".")
        found = self._member(target)
        if name not in self.get_submodule(path)._buffers:
            raise fault(AttributeError, f"`{name}` is not a buffer")
        return found  # type: ignore[no-any-return]

    def _member(self, target: str) -> Any:
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise fault(AttributeError, f"{module._get_name()} has no attribute `{name}`")
        return getattr(module, name)

    # ---- going through the members

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Every parameter once, this module's own first."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """(dotted name, parameter) of every parameter; a shared one under its first name."""
        yield from self._named_members("_parameters", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Every buffer once."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """(dotted name, buffer) of every buffer."""
        yield from self._named_members("_buffers", prefix, recurse, remove_duplicate)

    def _named_members(
        self, registry: str, prefix: str, recurse: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for path, module in modules:
            for name, member in getattr(module, registry).items():
                if member is None or id(member) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(member))
                yield f"{path}.{name}" if path else name, member

    def children(self) -> Iterator[Module]:
        """The submodules right below this one."""
        for _, module in self.named_children():
            yield module

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """(name, submodule) of those right below this one."""
        seen: set[int] = set()
        for name, module in self._modules.items():
            if module is not None and id(module) not in seen:
                seen.add(id(module))
                yield name, module

    def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:
        """This module and all below it."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """(dotted path, module) of this module (its path is the prefix) and of all below it."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    # ---- taking away

    def _forget(self, name: str, *registries: str) -> None:
        own = self.__dict__
        for registry in registries:
            own[registry].pop(name, None)
        own["_non_persistent_buffers_set"].discard(name)
        own.pop(name, None)

    def _replace_modules(self, modules: dict[str, Module]) -> None:
        """Put other submodules in the place of all there are."""
        for name in self._modules:
            self.__dict__.pop(name, None)
        self._modules.clear()
        for name, module in modules.items():
            self.add_module(name, module)

    def _exchange(self, tensors: dict[str, Any]) -> dict[str, Any]:
        """Put tensors in the place of members, by dotted name; returns what was there, ABSENT for nothing."""
        before: dict[str, Any] = {}
        for target, tensor in tensors.items():
            path, _, name = target.rpartition(".")
            module = self.get_submodule(path)
            own = module.__dict__
            before[target] = own.get(name, ABSENT)
            if tensor is ABSENT:
                own.pop(name, None)
                continue
            for registry in (module._parameters, module._buffers):
                if name in registry:
                    registry[name] = tensor
            own[name] = tensor
        return before

    def _delete(self, name: str) -> None:
        """`del self.name`, for a name that is computed."""
        delattr(self, name)
