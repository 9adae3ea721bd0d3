import torch
import torch.nn.functional as F
from torch import nn, optim

torch.set_default_dtype(torch.float64)


def flat(value):
    return [value] if isinstance(value, torch.Tensor) else [tensor for part in value for tensor in flat(part)]


def show(label, value):
    """The numbers of a tensor or of nested tuples of them, to 13 digits: six of them and two sums where they are many."""
    for tensor in flat(value):
        numbers = tensor.reshape(-1).tolist()
        shown = numbers if len(numbers) <= 8 else numbers[:3] + numbers[-3:]
        weighted = sum(place * number for place, number in enumerate(numbers))
        sums = "" if shown is numbers else f"sums {sum(numbers):.9f} {weighted:.9f}"
        print(label, tuple(tensor.shape), " ".join(f"{number:.12e}" for number in shown), sums)


def check(make, *inputs):
    """What a layer is, how it starts, what it gives and the gradients of its parameters and of its first input."""
    torch.manual_seed(0)
    layer = make()
    print(layer)
    for name, parameter in layer.named_parameters():
        show(name, parameter)
    first = inputs[0].clone()
    if first.is_floating_point():
        first.requires_grad_()
    out = flat(layer(first, *inputs[1:]))
    print([str(tensor.grad_fn).split(" ")[0] for tensor in out])
    show("out", out)
    total = sum((tensor * torch.arange(1.0, 1.0 + tensor.numel()).reshape(tensor.shape)).sum() for tensor in out)
    if total.requires_grad:
        total.backward()
    for name, parameter in layer.named_parameters():
        show("grad " + name, parameter.grad)
    if first.grad is not None:
        show("grad of the input", first.grad)
    for name, buffer in layer.named_buffers():
        show(name, buffer)


torch.manual_seed(5)
R = torch.randn
check(lambda: nn.LayerNorm(4), R(3, 4))
check(lambda: nn.LayerNorm([3, 4], bias=False), R(2, 3, 4))
check(lambda: nn.LayerNorm((4,), 1e-3, False), R(3, 4))
check(lambda: nn.GroupNorm(2, 4), R(3, 4, 5))
check(lambda: nn.GroupNorm(2, 4, affine=False), R(3, 4, 5))
check(lambda: nn.RMSNorm(4), R(3, 4))
check(lambda: nn.RMSNorm([3, 4], eps=1e-3, elementwise_affine=False), R(2, 3, 4))
check(lambda: nn.LocalResponseNorm(2), R(3, 4, 5))
for setting in ({}, {"momentum": None}, {"affine": False}, {"track_running_stats": False}, {"bias": False}):
    check(lambda: nn.BatchNorm1d(4, **setting), R(3, 4))
    check(lambda: nn.BatchNorm1d(4, **setting), R(3, 4, 5))
    check(lambda: nn.BatchNorm2d(4, **setting), R(3, 4, 2, 2))
    check(lambda: nn.BatchNorm3d(4, **setting), R(3, 4, 2, 1, 2))
check(lambda: nn.InstanceNorm1d(4), R(3, 4, 5))
check(lambda: nn.InstanceNorm1d(4), R(4, 5))
check(lambda: nn.InstanceNorm2d(4, affine=True, track_running_stats=True), R(3, 4, 2, 2))
check(lambda: nn.InstanceNorm3d(4), R(3, 4, 2, 1, 2))
norm = nn.BatchNorm1d(3, momentum=0.3)
for _ in range(3):
    norm(R(5, 3))
show("in evaluation", norm.eval()(R(2, 3)))
print(norm.num_batches_tracked, list(norm.state_dict()))
norm.reset_running_stats()
print(norm.running_mean, norm.running_var, norm.num_batches_tracked)
for layer, x in (
    (nn.BatchNorm1d(3), R(3)),
    (nn.BatchNorm2d(3), R(3, 3)),
    (nn.InstanceNorm1d(3, affine=True), R(2, 2, 2)),
):
    try:
        layer(x)
    except ValueError as error:
        print(error)
