"""Lazy layers: their parameters get their shape from the first input."""

from __future__ import annotations

from gradsh.engine.state import no_grad, state
from gradsh.engine.tensor import Parameter, Tensor, wrap
from gradsh.fault import fault
from gradsh.lang import members

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gradsh.backend.dtypes import DType
    from gradsh.library.module import Module

_UNUSABLE = (
    "Attempted to use an uninitialized parameter in {}. This error happens when you are using a `LazyModule` or "
    "explicitly manipulating `torch.nn.parameter.{}` objects. When using LazyModules Call `forward` with a dummy batch "
    "to initialize the parameters before calling torch functions"
)
_SHAPELESS = (
    "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in `load_state_dict` "
    "when trying to load an uninitialized parameter into an initialized one. Call `forward` to initialize the "
    "parameters before accessing their attributes."
)


_held: Any = vars(Tensor)["raw"]  # the slot that `raw` is elsewhere: here it holds the element type


class UninitializedParameter(Parameter):
    """A parameter without a shape, until `materialize` gives it one and makes it a plain Parameter."""

    __slots__ = ()
    becomes: type[Tensor] = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: DType | None = None) -> Any:
        made = object.__new__(cls)
        made.extra = made.grad = made.node = None
        _held.__set__(made, dtype or state.default)
        return made

    @property
    def raw(self) -> Any:
        """What any operation asks for first."""
        raise fault(
            ValueError,
            _UNUSABLE.format("an operation", type(self).__name__),
            hint="call the module once with an input of the right shape",
        )

    @property
    def shape(self) -> Any:
        raise fault(RuntimeError, _SHAPELESS)

    @property
    def dtype(self) -> DType:
        return _held.__get__(self)  # type: ignore[no-any-return]

    def convert(self, function: Callable[[Any], Any]) -> None:
        """Take the element type that a function of tensors, `double()` say, gives."""
        _held.__set__(self, function(_empty((0,), self.dtype)).dtype)

    def materialize(self, shape: tuple[int, ...], device: Any = None, dtype: DType | None = None) -> None:
        """Make it a parameter of this shape, with arbitrary elements."""
        dtype = dtype or self.dtype
        self.__class__ = self.becomes  # type: ignore[assignment]
        self.raw = _empty(shape, dtype).raw  # type: ignore[misc]
        if isinstance(self, Parameter):
            self.requires_grad_()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


def _empty(shape: tuple[int, ...], dtype: DType) -> Tensor:
    from gradsh.backend import arrays

    return wrap(arrays.zeros(tuple(shape), dtype.code))


class UninitializedBuffer(UninitializedParameter):
    """A buffer without a shape."""

    __slots__ = ()
    becomes = Tensor


members.allow(UninitializedParameter, ("materialize", "shape", "dtype"))
members.allow(UninitializedBuffer, ())


def start(module: Module) -> None:
    """Have a module call its `initialize_parameters` when it is first called, and become a plain layer."""

    def initialize(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        module.initialize_parameters(*args, **kwargs)
        before.remove()
        loading.remove()
        module.__class__ = module.cls_to_become

    def load(module: Any, state_dict: dict[str, Any], prefix: str, *_: Any) -> None:
        for name, member in {**module._parameters, **module._buffers}.items():
            given = state_dict.get(prefix + name)
            if isinstance(member, UninitializedParameter) and isinstance(given, Tensor):
                with no_grad():
                    member.materialize(given.shape)

    before = module.register_forward_pre_hook(initialize, with_kwargs=True)
    loading = module.register_load_state_dict_pre_hook(load)
