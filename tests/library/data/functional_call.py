import torch
from torch import nn
from torch.func import functional_call, stack_module_state


def attempt(function):
    try:
        print(function())
    except Exception as error:
        print(type(error).__name__, error)


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
x = torch.ones(4, 2)
p = {k: v.detach().clone().requires_grad_() for k, v in net.named_parameters()}
y = functional_call(net, p, (x,))
print(torch.equal(y, net(x)))
y.sum().backward()
print(p["0.weight"].grad)
print(net[0].weight.grad)
print(functional_call(net, {"2.bias": torch.full((1,), 100.0)}, x))
attempt(lambda: functional_call(net, {"2.bias": torch.full((1,), 100.0)}, x, strict=True))
attempt(lambda: functional_call(net, {"nope": torch.ones(1)}, x, strict=True))
attempt(lambda: functional_call(net, {"nope": torch.ones(1)}, x).shape)
attempt(lambda: functional_call(net, {"7.nope": torch.ones(1)}, x))
attempt(lambda: functional_call(net, 3, x))
attempt(lambda: functional_call(net, [3], x))
attempt(lambda: functional_call(net, [{"a": x}, {"a": x}], x))
attempt(lambda: hasattr(net, "nope"))


class T(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Parameter(torch.ones(1))
        self.b = self.a
        self.register_buffer("n", torch.zeros(1))

    def forward(self, x, k=1):
        self.n = self.n + 1
        return self.a * x + self.b * x * k + self.n


m = T()
attempt(lambda: functional_call(m, {"a": torch.tensor([5.0])}, torch.ones(1)))
attempt(lambda: functional_call(m, {"a": torch.tensor([5.0])}, torch.ones(1), tie_weights=False))
attempt(lambda: functional_call(m, {"a": torch.tensor([5.0]), "b": torch.tensor([4.0])}, torch.ones(1)))
attempt(lambda: functional_call(m, ({"a": torch.tensor([5.0])}, {"n": torch.tensor([40.0])}), torch.ones(1), {"k": 0}))
attempt(lambda: m.n)
d = {"n": torch.tensor([40.0])}
attempt(lambda: functional_call(m, d, torch.ones(1)))
attempt(lambda: d)
attempt(lambda: m.n)
attempt(lambda: [n for n, q in m.named_parameters()])
attempt(lambda: m.a)
ms = [nn.Linear(2, 1) for _ in range(3)]
ps, bs = stack_module_state(ms)
attempt(lambda: {k: (v.shape, v.requires_grad, v.is_leaf) for k, v in ps.items()})
attempt(lambda: bs)
attempt(lambda: stack_module_state([]))
attempt(lambda: stack_module_state([nn.ReLU(), nn.Tanh()]))
attempt(lambda: stack_module_state([nn.ReLU().eval(), nn.ReLU()]))


def fail():
    functional_call(net, p, (torch.ones(1, 3),))


attempt(fail)
attempt(lambda: net[0].weight is p["0.weight"])
