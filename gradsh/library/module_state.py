"""Saving a module's state under dotted names and loading it back: `state_dict`, `load_state_dict`."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Mapping

from gradsh.engine.state import no_grad
from gradsh.engine.tensor import Parameter, Tensor
from gradsh.fault import fault
from gradsh.library.lazy import UninitializedParameter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradsh.library.module import Module

EXTRA = "_extra_state"  # the key of what a module's own get_extra_state returns


class _IncompatibleKeys(namedtuple("_IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """What `load_state_dict` found too little and too much."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


def save(module: Module, destination: Any, prefix: str, keep_vars: bool) -> OrderedDict[str, Any]:
    """Collect the state of a module and of all below it."""
    if destination is None:
        destination = OrderedDict()
        destination._metadata = OrderedDict()  # the version of each module that puts something in
    metadata = {"version": module._version}
    if hasattr(destination, "_metadata"):
        destination._metadata[prefix[:-1]] = metadata
    hooks = module._hooks
    for hook in hooks.save_pre.values() if hooks else ():
        hook(module, prefix, keep_vars)
    module._save_to_state_dict(destination, prefix, keep_vars)
    for name, child in module._modules.items():
        if child is not None:
            child.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
    for hook in hooks.save_post.values() if hooks else ():
        if hook(module, destination, prefix, metadata) is not None:
            raise fault(RuntimeError, "state_dict post-hook must return None")
    return destination  # type: ignore[no-any-return]


def save_own(module: Module, destination: Any, prefix: str, keep_vars: bool) -> None:
    """Put a module's own parameters and persistent buffers into `destination`."""
    for name, value in _own(module).items():
        destination[prefix + name] = value if keep_vars or isinstance(value, UninitializedParameter) else value.detach()
    if _has_extra(module):
        destination[prefix + EXTRA] = module.get_extra_state()


def _own(module: Module) -> dict[str, Any]:
    """A module's own parameters and persistent buffers, those that are not None."""
    passing = module._non_persistent_buffers_set
    buffers = {name: value for name, value in module._buffers.items() if name not in passing}
    return {name: value for name, value in {**module._parameters, **buffers}.items() if value is not None}


def _has_extra(module: Module) -> bool:
    return getattr(type(module), "get_extra_state", no_extra_state) is not no_extra_state


def no_extra_state(module: Module, state: Any = None) -> Any:
    """Stands for `get_extra_state` and `set_extra_state` until a class has its own."""
    raise fault(RuntimeError, f"{type(module).__name__} has no extra state: define get_extra_state and set_extra_state")


def load(module: Module, state_dict: Any, strict: bool, assign: bool) -> _IncompatibleKeys:
    """Load into a module and all below it; every mismatch is collected and raised at the end."""
    if not isinstance(state_dict, Mapping):
        raise fault(TypeError, f"Expected state_dict to be dict-like, got {type(state_dict)}.")
    found = _IncompatibleKeys([], [])
    errors: list[str] = []
    metadata = getattr(state_dict, "_metadata", {})
    _load_below(module, dict(state_dict), "", metadata, assign, found, errors)
    if strict:
        for label, keys in (("Unexpected", found.unexpected_keys), ("Missing", found.missing_keys)):
            if keys:
                quoted = ", ".join(f'"{key}"' for key in keys)
                errors.insert(0, f"{label} key(s) in state_dict: {quoted}. ")
    if errors:
        lines = "\n\t".join(errors)
        raise fault(RuntimeError, f"Error(s) in loading state_dict for {type(module).__name__}:\n\t{lines}")
    return found


def _load_below(
    module: Module,
    values: dict[str, Any],
    prefix: str,
    metadata: Any,
    assign: bool,
    found: _IncompatibleKeys,
    errors: list[str],
) -> None:
    local = dict(metadata.get(prefix[:-1], {}))
    if assign:
        local["assign_to_params_buffers"] = True
    module._load_from_state_dict(values, prefix, local, True, found.missing_keys, found.unexpected_keys, errors)
    for name, child in module._modules.items():
        if child is not None:
            path = f"{prefix}{name}."
            inner = {key: value for key, value in values.items() if key.startswith(path)}
            _load_below(child, inner, path, metadata, assign, found, errors)
    for hook in module._hooks.load_post.values() if module._hooks else ():
        if hook(module, found) is not None:
            raise fault(
                AssertionError,
                "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new values, "
                "if incompatible_keys need to be modified, it should be done inplace.",
            )


def load_own(
    module: Module,
    state_dict: dict[str, Any],
    prefix: str,
    local_metadata: dict[str, Any],
    strict: bool,
    missing_keys: list[str],
    unexpected_keys: list[str],
    error_msgs: list[str],
) -> None:
    """Copy values into a module's own parameters and buffers; note the keys that do not fit."""
    for hook in module._hooks.load_pre.values() if module._hooks else ():
        hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
    own = _own(module)
    assign = local_metadata.get("assign_to_params_buffers", False)
    for name, target in own.items():
        key = prefix + name
        if key not in state_dict:
            missing_keys.append(key)
            continue
        error = _load_one(module, name, target, key, state_dict[key], assign)
        if error is not None:
            error_msgs.append(error)
    extra = prefix + EXTRA
    if _has_extra(module):
        if extra in state_dict:
            module.set_extra_state(state_dict[extra])
        else:
            missing_keys.append(extra)
    elif extra in state_dict:
        unexpected_keys.append(extra)
    for key in state_dict:
        if key.startswith(prefix) and key != extra:
            name, dot, _ = key[len(prefix) :].partition(".")
            if name not in (module._modules if dot else own):
                unexpected_keys.append(key)


def _load_one(module: Module, name: str, target: Any, key: str, value: Any, assign: bool) -> str | None:
    """Load one tensor; what is wrong with it, or None."""
    if not isinstance(value, Tensor):
        return (
            f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from checkpoint '
            f"but received {type(value)}"
        )
    if target.ndim == 0 and value.shape == (1,):
        value = value[0]  # type: ignore[index]
    if value.shape != target.shape:
        return (
            f"size mismatch for {key}: copying a param with shape {value.shape} from checkpoint, "
            f"the shape in current model is {target.shape}."
        )
    with no_grad():
        if not assign:
            target.copy_(value)
        elif isinstance(target, Parameter):
            if not isinstance(value, Parameter):
                value = Parameter(value, requires_grad=target.requires_grad)
            setattr(module, name, value.requires_grad_(target.requires_grad))
        else:
            setattr(module, name, value)
    return None
