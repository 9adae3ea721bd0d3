"""A module's hooks: functions called before and after `forward`, and when gradients pass through the module."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from gradsh.engine.arrival import RemovableHandle
from gradsh.engine.tensor import Tensor
from gradsh.fault import fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradsh.library.module import Module

Hook = Callable[..., Any]
Table = OrderedDict[int, Hook]


class Hooks:
    """All hooks of one module, by kind and in the order in which they are called.

    full: whether the backward hooks are full ones; a module has one sort of them, None while it has neither.
    with_kwargs, always: which forward hooks take the keyword arguments; which run even where `forward` fails.
    save_pre, save_post, load_pre, load_post: around `state_dict()` and `load_state_dict()`.
    """

    __slots__ = (
        "always", "backward", "backward_pre", "forward", "forward_pre", "full",
        "load_post", "load_pre", "save_post", "save_pre", "with_kwargs",
    )  # fmt: skip

    def __init__(self) -> None:
        self.forward: Table = OrderedDict()
        self.forward_pre: Table = OrderedDict()
        self.backward: Table = OrderedDict()
        self.backward_pre: Table = OrderedDict()
        self.save_pre: Table = OrderedDict()
        self.save_post: Table = OrderedDict()
        self.load_pre: Table = OrderedDict()
        self.load_post: Table = OrderedDict()
        self.full: bool | None = None
        self.with_kwargs: set[int] = set()
        self.always: set[int] = set()


def add(hooks: Table, hook: Hook, prepend: bool = False) -> RemovableHandle:
    """Register a hook, behind the others or before them."""
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def call_with_hooks(module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`forward` with everything that is hooked to it."""
    hooks = module._hooks
    assert hooks is not None
    called: set[int] = set()
    result = None
    try:
        args, kwargs = _before(module, hooks, args, kwargs)
        crossing = None
        if hooks.backward_pre or (hooks.full and hooks.backward):
            from gradsh.library.module_gradients import Crossing

            full = list(hooks.backward.values()) if hooks.full else []
            crossing = Crossing(module, full, list(hooks.backward_pre.values()))
            args = crossing.enter(args)
        result = module.forward(*args, **kwargs)
        for key, hook in list(hooks.forward.items()):
            called.add(key)
            changed = hook(module, args, kwargs, result) if key in hooks.with_kwargs else hook(module, args, result)
            result = result if changed is None else changed
        if crossing is not None:
            result = crossing.leave(result)
        if hooks.backward and not hooks.full:
            _hook_node(module, hooks, result)
        return result
    except Exception:
        for key, hook in list(hooks.forward.items()):
            if key in hooks.always and key not in called:
                try:
                    hook(*((module, args, kwargs, result) if key in hooks.with_kwargs else (module, args, result)))
                except Exception:  # the first failure is the one to be told of
                    continue
        raise


def _before(
    module: Module, hooks: Hooks, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of `forward` after the pre-hooks."""
    for key, hook in list(hooks.forward_pre.items()):
        if key in hooks.with_kwargs:
            changed = hook(module, args, kwargs)
            if changed is None:
                continue
            if not (isinstance(changed, tuple) and len(changed) == 2):
                raise fault(
                    RuntimeError,
                    f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {changed}.",
                )
            args, kwargs = changed
        else:
            changed = hook(module, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
    return args, kwargs


def _hook_node(module: Module, hooks: Hooks, result: Any) -> None:
    """Old-style backward hooks: on the node of the (first) output, whatever inputs that node has."""
    while not isinstance(result, Tensor):
        if isinstance(result, dict):
            result = next(value for value in result.values() if isinstance(value, Tensor))
        else:
            result = result[0]
    node = result.grad_fn
    if node is not None:
        for hook in hooks.backward.values():
            node.register_hook(lambda grad_input, grad_output, hook=hook: hook(module, grad_input, grad_output))


class Hooked:
    """The part of Module that registers hooks; `_hooks` is None until the first one."""

    _hooks: Hooks | None

    def _own_hooks(self) -> Hooks:
        if self._hooks is None:
            self._hooks = Hooks()
        return self._hooks

    def register_forward_pre_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call hook(module, args) before `forward`; it may return other arguments."""
        hooks = self._own_hooks()
        handle = add(hooks.forward_pre, hook, prepend)
        if with_kwargs:
            hooks.with_kwargs.add(handle.id)
        return handle

    def register_forward_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> RemovableHandle:
        """Call hook(module, args, output) after `forward`; it may return another output."""
        hooks = self._own_hooks()
        handle = add(hooks.forward, hook, prepend)
        if with_kwargs:
            hooks.with_kwargs.add(handle.id)
        if always_call:
            hooks.always.add(handle.id)
        return handle

    def register_full_backward_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call hook(module, grad_output) when the outputs' gradients arrive; it may return others."""
        return add(self._own_hooks().backward_pre, hook, prepend)

    def register_full_backward_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call hook(module, grad_input, grad_output) when both are known; it may return another grad_input."""
        return self._add_backward_hook(True, hook, prepend)

    def register_backward_hook(self, hook: Hook) -> RemovableHandle:
        """The old kind of backward hook, which sees only the last operation of `forward`."""
        return self._add_backward_hook(False, hook)

    def _add_backward_hook(self, full: bool, hook: Hook, prepend: bool = False) -> RemovableHandle:
        hooks = self._own_hooks()
        if hooks.full is not None and hooks.full is not full:
            raise fault(
                RuntimeError,
                "Cannot use both regular backward hooks and full backward hooks on a single Module. "
                "Please use only one of them.",
            )
        hooks.full = full
        return add(hooks.backward, hook, prepend)

    def register_state_dict_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Call hook(module, prefix, keep_vars) before `state_dict` collects."""
        return add(self._own_hooks().save_pre, hook)

    def register_state_dict_post_hook(self, hook: Hook) -> RemovableHandle:
        """Call hook(module, state_dict, prefix, local_metadata) when `state_dict` has collected."""
        return add(self._own_hooks().save_post, hook)

    def register_load_state_dict_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Call hook(module, state_dict, prefix, local_metadata, strict, missing, unexpected, errors) before loading."""
        return add(self._own_hooks().load_pre, hook)

    def register_load_state_dict_post_hook(self, hook: Hook) -> RemovableHandle:
        """Call hook(module, incompatible_keys) after loading; it may change the two lists."""
        return add(self._own_hooks().load_post, hook)

    @property
    def _forward_hooks(self) -> Table:
        return self._own_hooks().forward

    @property
    def _forward_pre_hooks(self) -> Table:
        return self._own_hooks().forward_pre

    @property
    def _backward_hooks(self) -> Table:
        return self._own_hooks().backward
