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


torch.manual_seed(2)
R = torch.randn
settings = [
    {},
    {"num_layers": 2},
    {"bidirectional": True},
    {"batch_first": True},
    {"bias": False},
    {"num_layers": 3, "dropout": 0.4, "bidirectional": True, "batch_first": True},
]
for kind in (nn.RNN, nn.GRU, nn.LSTM):
    for setting in settings:
        states = setting.get("num_layers", 1) * (2 if setting.get("bidirectional") else 1)
        batched = R(2, 4, 3) if setting.get("batch_first") else R(4, 2, 3)
        check(lambda: kind(3, 2, **setting), batched)
        h, c = R(states, 2, 2), R(states, 2, 2)
        check(lambda: kind(3, 2, **setting), batched, (h, c) if kind is nn.LSTM else h)
        check(lambda: kind(3, 2, **setting), R(4, 3))
        check(lambda: kind(3, 2, **setting), R(4, 3), (h[:, 0], c[:, 0]) if kind is nn.LSTM else h[:, 0])
check(lambda: nn.RNN(3, 2, 2, "relu"), R(4, 2, 3))
check(lambda: nn.RNN(3, 2, nonlinearity="relu", bias=False), R(4, 2, 3))
check(lambda: nn.LSTM(3, 4, proj_size=2, num_layers=2, bidirectional=True), R(4, 2, 3))
for kind in (nn.RNNCell, nn.GRUCell, nn.LSTMCell):
    for x in (R(2, 3), R(3)):
        check(lambda: kind(3, 2), x)
        check(lambda: kind(3, 2, bias=False), x)
        h = R(2, 2) if x.dim() == 2 else R(2)
        check(lambda: kind(3, 2), x, (h, 2 * h) if kind is nn.LSTMCell else h)
check(lambda: nn.RNNCell(3, 2, nonlinearity="relu"), R(2, 3))
rnn = nn.RNN(2, 3, num_layers=2, bidirectional=True)
print([name for name, _ in rnn.named_parameters()], len(rnn.all_weights), len(rnn.all_weights[0]))
print(rnn.flatten_parameters())
