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


torch.manual_seed(4)
x, y, classes = torch.randn(3, 4), torch.randn(3, 4), torch.tensor([1, 0, 3])
p, q, sign = torch.rand(3, 4), torch.rand(3, 4), torch.randn(3, 4).sign()
weight = torch.rand(4)
for reduction in ("mean", "sum", "none"):
    k = {"reduction": reduction}
    check(lambda: nn.MSELoss(**k), x, y)
    check(lambda: nn.L1Loss(**k), x, y)
    check(lambda: nn.SmoothL1Loss(beta=0.5, **k), x, y)
    check(lambda: nn.HuberLoss(delta=0.7, **k), x, y)
    check(lambda: nn.PoissonNLLLoss(**k), x, p)
    check(lambda: nn.GaussianNLLLoss(**k), x, p, q)
    check(lambda: nn.CrossEntropyLoss(**k), x, classes)
    check(lambda: nn.CrossEntropyLoss(weight, ignore_index=1, label_smoothing=0.1, **k), x, classes)
    check(lambda: nn.CrossEntropyLoss(**k), x, p / p.sum(1, keepdim=True))
    check(lambda: nn.NLLLoss(weight, **k), x, classes)
    check(lambda: nn.BCELoss(**k), p, q)
    check(lambda: nn.BCEWithLogitsLoss(pos_weight=weight, **k), x, q)
    check(lambda: nn.KLDivLoss(**k), x, p)
    check(lambda: nn.SoftMarginLoss(**k), x, sign)
    check(lambda: nn.MultiMarginLoss(**k), x, classes)
    check(lambda: nn.MultiLabelMarginLoss(**k), x, torch.tensor([[1, 0, -1, 0]] * 3))
    check(lambda: nn.MultiLabelSoftMarginLoss(**k), x, p.round())
    check(lambda: nn.HingeEmbeddingLoss(**k), x, sign)
    check(lambda: nn.CosineEmbeddingLoss(**k), x, y, torch.tensor([1, -1, 1]))
    check(lambda: nn.MarginRankingLoss(0.1, **k), x, y, sign)
    check(lambda: nn.TripletMarginLoss(**k), x, y, p)
    check(lambda: nn.TripletMarginWithDistanceLoss(**k), x, y, p)
check(lambda: nn.KLDivLoss(reduction="batchmean", log_target=True), x, y)
print(
    nn.MSELoss(size_average=False).reduction,
    nn.MSELoss(reduce=False).reduction,
    nn.MSELoss(size_average=True).reduction,
)
