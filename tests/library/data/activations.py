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


torch.manual_seed(3)
x = torch.randn(3, 4)
for make in (
    nn.ReLU,
    nn.SiLU,
    nn.Mish,
    nn.SELU,
    nn.Hardswish,
    nn.Hardsigmoid,
    nn.Tanh,
    nn.Sigmoid,
    nn.LogSigmoid,
    nn.Softsign,
    nn.Tanhshrink,
    nn.RReLU,
    nn.Hardtanh,
    nn.ReLU6,
    nn.ELU,
    nn.CELU,
    nn.GLU,
    nn.GELU,
    nn.LeakyReLU,
    nn.PReLU,
    nn.Softplus,
    nn.Hardshrink,
    nn.Softshrink,
):
    check(make, x)
check(lambda: nn.Threshold(0.1, 20), x)
check(lambda: nn.Hardtanh(-0.5, 2), x)
check(lambda: nn.ELU(0.5), x)
check(lambda: nn.CELU(1.3), x)
check(lambda: nn.GLU(1), x)
check(lambda: nn.GELU("tanh"), x)
check(lambda: nn.LeakyReLU(0.2), x)
check(lambda: nn.PReLU(4, init=0.1), x)
check(lambda: nn.Softplus(2.0, 0.5), x)
check(lambda: nn.Hardshrink(1.0), x)
check(lambda: nn.Softshrink(0.3), x)
for kind in (nn.Softmax, nn.LogSoftmax, nn.Softmin):
    check(lambda: kind(dim=1), x)
    check(lambda: kind(0), x)
check(nn.Softmax2d, torch.randn(2, 3, 2, 2))
for kind in (nn.ReLU, nn.SiLU, nn.Mish, nn.SELU, nn.Hardswish, nn.Hardsigmoid, nn.ReLU6, nn.ELU, nn.CELU, nn.LeakyReLU):
    layer = kind(inplace=True)
    y = x.clone()
    print(layer, layer(y) is y)
print(nn.Threshold(1, 2, True), nn.RReLU(inplace=True), nn.Hardtanh(inplace=True))
