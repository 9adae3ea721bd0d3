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


init = nn.init


def drawn(name, *args, shapes=((4, 3), (2, 5))):
    for shape in shapes:
        torch.manual_seed(8)
        tensor = torch.empty(shape)
        print(name, getattr(init, name)(tensor, *args) is tensor)
        show(name, tensor)


drawn("uniform_", -1, 2)
drawn("normal_", 1, 2)
drawn("constant_", 3)
drawn("ones_")
drawn("zeros_")
drawn("eye_")
drawn("xavier_uniform_", 2)
drawn("xavier_normal_")
drawn("kaiming_uniform_")
drawn("kaiming_uniform_", 0.1, "fan_out", "relu", shapes=((2, 3, 2), (4, 3)))
drawn("kaiming_normal_", 0, "fan_in", "tanh")
drawn("trunc_normal_", shapes=((5, 4),))
drawn("trunc_normal_", 0.0, 1.0, -0.1, 0.1, shapes=((5, 4),))
drawn("trunc_normal_", 0.0, 2.0, -1.0, 1.0, shapes=((5, 4),))
drawn("orthogonal_", 2)
drawn("sparse_", 0.5)
drawn("dirac_", shapes=((3, 2, 3), (2, 2, 3, 3)))
drawn("dirac_", 2, shapes=((4, 2, 3),))
for name in ("linear", "conv2d", "sigmoid", "tanh", "relu", "leaky_relu", "selu"):
    print(name, init.calculate_gain(name))
print(init.calculate_gain("leaky_relu", 0.2))
parameter = nn.Parameter(torch.empty(2, 2))
init.ones_(parameter)
print(parameter, parameter.is_leaf)


def failed(function, *args):
    try:
        print(function(*args))
    except ValueError as error:
        print(error)


failed(init.calculate_gain, "swish")
failed(init.calculate_gain, "leaky_relu", True)
failed(init.xavier_uniform_, torch.empty(3))
failed(init.kaiming_uniform_, torch.empty(3, 2), 0, "fan_x")
failed(init.eye_, torch.empty(3))
failed(init.dirac_, torch.empty(3, 3))
failed(init.dirac_, torch.empty(3, 3, 3), 2)
failed(init.orthogonal_, torch.empty(3))
failed(init.sparse_, torch.empty(3), 0.1)
