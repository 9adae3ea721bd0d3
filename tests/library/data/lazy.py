import torch
from torch import nn


def attempt(function):
    try:
        print(function())
    except Exception as error:
        print(type(error).__name__, error)


torch.manual_seed(0)
l = nn.LazyLinear(3)
attempt(lambda: l)
attempt(lambda: l.weight)
attempt(lambda: l.bias)
attempt(lambda: l.weight.shape)
attempt(lambda: type(l))
attempt(lambda: l.in_features)
attempt(lambda: [n for n, p in l.named_parameters()])
attempt(lambda: l.state_dict())
attempt(lambda: l(torch.ones(2, 4)))
attempt(lambda: l)
attempt(lambda: l.weight)
attempt(lambda: type(l))
attempt(lambda: l(torch.ones(2, 5)))
attempt(lambda: l.bias)
net = nn.Sequential(nn.LazyLinear(4, bias=False), nn.ReLU(), nn.LazyLinear(1))
attempt(lambda: net)
attempt(lambda: net(torch.ones(1, 3)))
attempt(lambda: net)
m = nn.LazyLinear(3)
attempt(lambda: m.load_state_dict(l.state_dict()))
attempt(lambda: m(torch.ones(1, 4)))
attempt(lambda: m)
attempt(lambda: m.weight)
m = nn.LazyLinear(3)
attempt(lambda: l.load_state_dict(m.state_dict()))
attempt(lambda: m.to(torch.float64))
attempt(lambda: torch.optim.SGD(m.parameters(), lr=0.1))
attempt(lambda: list(m.parameters()))
b = nn.LazyBatchNorm1d()
attempt(lambda: b)
attempt(lambda: b.running_mean)
attempt(lambda: b(torch.ones(3, 2)))
attempt(lambda: b)
