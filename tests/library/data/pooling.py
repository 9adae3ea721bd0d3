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


torch.manual_seed(13)
R = torch.randn
sizes = {1: (7,), 2: (6, 5), 3: (4, 6, 5)}
kinds = {
    "max": (nn.MaxPool1d, nn.MaxPool2d, nn.MaxPool3d),
    "avg": (nn.AvgPool1d, nn.AvgPool2d, nn.AvgPool3d),
    "adaptive max": (nn.AdaptiveMaxPool1d, nn.AdaptiveMaxPool2d, nn.AdaptiveMaxPool3d),
    "adaptive avg": (nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d, nn.AdaptiveAvgPool3d),
    "constant": (nn.ConstantPad1d, nn.ConstantPad2d, nn.ConstantPad3d),
    "zero": (nn.ZeroPad1d, nn.ZeroPad2d, nn.ZeroPad3d),
    "reflection": (nn.ReflectionPad1d, nn.ReflectionPad2d, nn.ReflectionPad3d),
    "replication": (nn.ReplicationPad1d, nn.ReplicationPad2d, nn.ReplicationPad3d),
    "circular": (nn.CircularPad1d, nn.CircularPad2d, nn.CircularPad3d),
}
for count, size in sizes.items():
    for name, of_count in kinds.items():
        kind = of_count[count - 1]
        if name == "constant":
            check(lambda: kind(1, 2.5), R(2, 3, *size))
        else:
            check(lambda: kind(2 if "pad" not in name and name in ("max", "avg") else 1), R(2, 3, *size))
    check(lambda: kinds["max"][count - 1](3, stride=2, padding=1, ceil_mode=True), R(2, 3, *size))
    check(lambda: kinds["avg"][count - 1](3, stride=2, padding=1, count_include_pad=False), R(2, 3, *size))
    print(kinds["reflection"][count - 1](tuple(range(2 * count))))
out, indices = nn.MaxPool2d(2, return_indices=True)(R(1, 1, 4, 4))
show("out", out)
print(indices, nn.MaxUnpool2d(2), nn.LPPool2d(2, 3))
check(lambda: nn.Upsample(scale_factor=2), R(1, 2, 3, 3))
check(lambda: nn.Upsample((4, 5), mode="bilinear", align_corners=False), R(1, 2, 3, 3))
check(lambda: nn.UpsamplingNearest2d(scale_factor=2), R(1, 2, 3, 3))
check(lambda: nn.UpsamplingBilinear2d(size=5), R(1, 2, 3, 3))
check(lambda: nn.PixelShuffle(2), R(1, 8, 2, 2))
check(lambda: nn.PixelUnshuffle(2), R(1, 2, 4, 4))
check(lambda: nn.ChannelShuffle(2), R(1, 4, 2, 2))
check(lambda: nn.Unfold(2), R(1, 2, 3, 3))
check(lambda: nn.Fold((3, 3), 2), R(1, 8, 4))
try:
    nn.CircularPad2d(1)(R(2))
except ValueError as error:
    print(error)
