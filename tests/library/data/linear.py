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


torch.manual_seed(1)
R = torch.randn
check(lambda: nn.Linear(3, 4), R(2, 3))
check(lambda: nn.Linear(3, 2, bias=False), R(2, 3))
check(lambda: nn.Linear(3, 2), R(3))
check(lambda: nn.Linear(2, 3), R(2, 2, 2))
check(lambda: nn.Identity(3, x=4), R(3))
check(lambda: nn.Bilinear(3, 4, 2), R(2, 3), R(2, 4))
check(lambda: nn.Bilinear(3, 4, 2, bias=False), R(2, 3), R(2, 4))
check(lambda: nn.Flatten(), R(2, 3, 4))
check(lambda: nn.Flatten(0, 1), R(2, 3, 4))
check(lambda: nn.Unflatten(1, (2, 3)), R(2, 6))
check(lambda: nn.PairwiseDistance(), R(3, 4), R(3, 4))
check(lambda: nn.PairwiseDistance(1.0, keepdim=True), R(3, 4), R(3, 4))
check(lambda: nn.CosineSimilarity(), R(3, 4), R(3, 4))
check(lambda: nn.CosineSimilarity(dim=0), R(3, 4), R(3, 4))
