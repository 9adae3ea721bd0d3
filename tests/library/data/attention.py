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


torch.manual_seed(14)
R = torch.randn
for setting in (
    {},
    {"bias": False},
    {"add_bias_kv": True},
    {"add_zero_attn": True, "add_bias_kv": True},
    {"kdim": 3, "vdim": 5},
    {"dropout": 0.3},
    {"batch_first": True},
):
    query, key, value = R(4, 2, 6), R(5, 2, setting.get("kdim", 6)), R(5, 2, setting.get("vdim", 6))
    if setting.get("batch_first"):
        query, key, value = R(2, 4, 6), R(2, 5, 6), R(2, 5, 6)
    check(lambda: nn.MultiheadAttention(6, 2, **setting), query, key, value)
    torch.manual_seed(1)
    layer = nn.MultiheadAttention(6, 2, **setting)
    padding, mask = torch.rand(2, 5) > 0.6, torch.rand(4, 5) > 0.7
    for options in (
        {"need_weights": False},
        {"average_attn_weights": False},
        {"key_padding_mask": padding},
        {"attn_mask": mask},
        {"attn_mask": R(4, 4, 5)},
        {"need_weights": False, "attn_mask": R(4, 5), "key_padding_mask": padding},
    ):
        out, weights = layer(query, key, value, **options)
        show("output", out)
        if weights is not None:
            show("weights", weights)
torch.manual_seed(2)
layer = nn.MultiheadAttention(6, 3)
x = R(4, 2, 6)
out, weights = layer(x, x, x)
show("self", out)
print(str(out.grad_fn).split(" ")[0], weights.shape, layer(x[:, 0], x[:, 0], x[:, 0])[1].shape)
for setting in ({}, {"norm_first": True}, {"activation": "gelu", "batch_first": True}, {"bias": False}):
    check(lambda: nn.TransformerEncoderLayer(6, 2, 8, **setting), R(4, 2, 6))
    check(lambda: nn.TransformerDecoderLayer(6, 2, 8, **setting), R(4, 2, 6), R(4, 2, 6))
check(lambda: nn.Transformer(6, 2, 2, 1, 8), R(4, 2, 6), R(3, 2, 6))
torch.manual_seed(3)
model = nn.Transformer(4, 2, 1, 1, 8).eval()
mask = nn.Transformer.generate_square_subsequent_mask(3)
print(mask)
show("masked", model(R(3, 2, 4), R(3, 2, 4), src_mask=mask, tgt_mask=mask))


def attempt(function):
    try:
        print(function())
    except Exception as error:
        print(type(error).__name__, error)


kind = nn.MultiheadAttention
attempt(lambda: kind(5, 2))
attempt(lambda: kind(0, 2))
attempt(lambda: kind(6, 2)(R(3, 6), R(3, 2, 6), R(3, 2, 6)))
attempt(lambda: kind(6, 2)(R(6), R(6), R(6)))
attempt(lambda: kind(6, 2)(R(3, 2, 5), R(3, 2, 5), R(3, 2, 5)))
attempt(lambda: kind(6, 2)(R(3, 2, 6), R(3, 2, 6), R(4, 2, 6)))
attempt(lambda: kind(6, 2)(x, x, x, attn_mask=R(2, 2)))
attempt(lambda: kind(6, 2)(x, x, x, attn_mask=R(2, 2, 3)))
attempt(lambda: kind(6, 2)(x, x, x, key_padding_mask=R(2, 2)))
attempt(lambda: kind(6, 2)(x, x, x, key_padding_mask=R(2)))
attempt(lambda: kind(6, 2)(x, x, x, is_causal=True))
attempt(lambda: nn.TransformerEncoderLayer(6, 2, activation="tanh"))
attempt(lambda: model(R(3, 2, 4), R(3, 3, 4)))
attempt(lambda: model(R(3, 2, 3), R(3, 2, 3)))
