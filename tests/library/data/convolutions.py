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


torch.manual_seed(12)
R = torch.randn
sizes = {1: (7,), 2: (6, 5), 3: (4, 3, 5)}
plain = {1: nn.Conv1d, 2: nn.Conv2d, 3: nn.Conv3d}
transposed = {1: nn.ConvTranspose1d, 2: nn.ConvTranspose2d, 3: nn.ConvTranspose3d}
for count, size in sizes.items():
    for setting in (
        {},
        {"stride": 2, "padding": 1},
        {"padding": "same", "dilation": 2},
        {"groups": 2, "bias": False},
        {"padding": 1, "padding_mode": "circular"},
        {"padding": "same", "padding_mode": "reflect"},
    ):
        check(lambda: plain[count](4, 2, 3, **setting), R(2, 4, *size))
    check(lambda: plain[count](4, 2, (2,) * count), R(4, *size))
    for setting in ({}, {"stride": 2, "padding": 1, "output_padding": 1}, {"groups": 2, "bias": False, "dilation": 2}):
        check(lambda: transposed[count](4, 2, 3, **setting), R(2, 4, *size))
    layer = transposed[count](4, 2, 3, stride=2)
    x = R(2, 4, *size)
    wanted = [2 * length + 2 for length in size]
    print(layer(x, output_size=wanted).shape, layer(x, output_size=[2, 2, *wanted]).shape)
    for wanted in ([99] * count, [1] * (count + 1)):
        try:
            layer(x, output_size=wanted)
        except ValueError as error:
            print(error)
for make in (
    lambda: nn.Conv2d(4, 5, 3, groups=3),
    lambda: nn.Conv2d(3, 4, 3, groups=3),
    lambda: nn.Conv2d(4, 4, 3, groups=0),
    lambda: nn.Conv2d(4, 4, 3, stride=2, padding="same"),
    lambda: nn.ConvTranspose2d(4, 4, 3, padding_mode="reflect"),
    lambda: nn.Conv2d(4, 4),
):
    try:
        make()
    except (ValueError, TypeError) as error:
        print(type(error).__name__, error)
for kind in (nn.LazyConv1d, nn.LazyConvTranspose1d):
    torch.manual_seed(0)
    layer = kind(2, 3)
    print(layer)
    show("lazy", layer(R(1, 4, 7)))
    print(layer)
