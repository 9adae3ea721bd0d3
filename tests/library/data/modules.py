import torch
from torch import nn
from collections import OrderedDict


def attempt(function):
    try:
        print(function())
    except Exception as error:
        print(type(error).__name__, error)


class A(nn.Module):
    def __init__(self):
        self.x = 1
        self.lin = nn.Linear(2, 2)


class B(nn.Module):
    def __init__(self):
        self.p = nn.Parameter(torch.ones(2))


class C(nn.Module):
    def __init__(self):
        self.register_buffer("b", torch.ones(2))


class D(nn.Module):
    def __init__(self):
        pass

    def forward(self, x):
        return x


class E(nn.Module):
    def __init__(self):
        super(E, self).__init__()
        self.lin = nn.Linear(2, 2, bias=False)
        self.p = nn.Parameter(torch.ones(2))
        self.register_buffer("buf", torch.zeros(3))
        self.register_buffer("tmp", torch.zeros(1), persistent=False)
        self.register_parameter("none", None)
        self.shared = self.lin
        self.misc = [1, 2]

    def forward(self, x, scale=1.0):
        return self.lin(x) * scale + self.p


attempt(lambda: A())
attempt(lambda: B())
attempt(lambda: C())
attempt(lambda: D()(3))
attempt(lambda: list(D().parameters()))
torch.manual_seed(0)
e = E()
attempt(lambda: e)
attempt(lambda: [n for n, p in e.named_parameters()])
attempt(lambda: [n for n, p in e.named_parameters(remove_duplicate=False)])
attempt(lambda: [n for n, p in e.named_parameters(prefix="net")])
attempt(lambda: [n for n, p in e.named_parameters(recurse=False)])
attempt(lambda: [n for n, b in e.named_buffers()])
attempt(lambda: len(list(e.buffers())))
attempt(lambda: [n for n, m in e.named_modules()])
attempt(lambda: [n for n, m in e.named_children()])
attempt(lambda: [n for n, m in e.named_modules(prefix="q", remove_duplicate=False)])
attempt(lambda: [type(m).__name__ for m in e.modules()])
attempt(lambda: [type(m).__name__ for m in e.children()])
attempt(lambda: e.state_dict())
attempt(lambda: list(e.state_dict(prefix="m.")))
attempt(lambda: list(e.state_dict(keep_vars=True).values())[0])
attempt(lambda: e(torch.ones(1, 2)))
attempt(lambda: e(torch.ones(1, 2), scale=2.0))
attempt(lambda: e())
attempt(lambda: e(1, 2, 3))
attempt(lambda: e(x=torch.ones(1, 2)))
attempt(lambda: e.nope)
attempt(lambda: e.lin.nope)


def sett(name, v):
    setattr(e, name, v)
    return getattr(e, name)


attempt(lambda: sett("p", torch.ones(2)))
attempt(lambda: sett("p", 3))
attempt(lambda: sett("lin", 3))
attempt(lambda: sett("buf", 3))
attempt(lambda: sett("buf", torch.ones(2)))
attempt(lambda: sett("buf", None))
attempt(lambda: [n for n, b in e.named_buffers()])
attempt(lambda: sett("p", None))
attempt(lambda: sett("p", nn.Parameter(torch.zeros(2))))
attempt(lambda: list(dict(e.named_parameters())))
attempt(lambda: sett("misc", nn.Linear(1, 1)))
attempt(lambda: e)
attempt(lambda: sett("misc", nn.Parameter(torch.ones(1))))
attempt(lambda: e)
attempt(lambda: [n for n, p in e.named_parameters()])
attempt(lambda: e.register_parameter("a.b", nn.Parameter(torch.ones(1))))
attempt(lambda: e.register_parameter("", nn.Parameter(torch.ones(1))))
attempt(lambda: e.register_parameter(3, nn.Parameter(torch.ones(1))))
attempt(lambda: e.register_parameter("forward", nn.Parameter(torch.ones(1))))
attempt(lambda: e.register_parameter("q", torch.ones(1)))
attempt(lambda: e.register_parameter("q", nn.Parameter(torch.ones(1)) * 2))
attempt(lambda: e.register_parameter("q", 3))
attempt(lambda: e.register_buffer("a.b", torch.ones(1)))
attempt(lambda: e.register_buffer("", torch.ones(1)))
attempt(lambda: e.register_buffer("lin", torch.ones(1)))
attempt(lambda: e.register_buffer("q", 3))
attempt(lambda: e.register_buffer(2, 3))
attempt(lambda: e.add_module("a.b", nn.ReLU()))
attempt(lambda: e.add_module("", nn.ReLU()))
attempt(lambda: e.add_module("q", 3))
attempt(lambda: e.add_module("misc", nn.ReLU()))
attempt(lambda: e.add_module(3, nn.ReLU()))
attempt(lambda: e.add_module("r", None))
attempt(lambda: e)
net = nn.Sequential(OrderedDict([("a", nn.Sequential(nn.Linear(2, 3), nn.ReLU())), ("b", nn.Linear(3, 1))]))
attempt(lambda: net)
attempt(lambda: net.get_submodule("a.0"))
attempt(lambda: net.get_submodule(""))
attempt(lambda: net.get_submodule("a.7"))
attempt(lambda: net.get_submodule("a.0.weight"))
attempt(lambda: net.get_parameter("a.0.bias").shape)
attempt(lambda: net.get_parameter("a.0.zip"))
attempt(lambda: net.get_parameter("a.0"))
attempt(lambda: net.get_buffer("a.0.bias"))
attempt(lambda: net.set_submodule("a.1", nn.Tanh()))
attempt(lambda: net)
attempt(lambda: net.set_submodule("", nn.Tanh()))
attempt(lambda: net.set_submodule("a.q", nn.Tanh(), strict=True))
attempt(lambda: net.train(False).training)
attempt(lambda: [m.training for m in net.modules()])
attempt(lambda: net.eval() is net)
attempt(lambda: net.train(3))
attempt(lambda: net.requires_grad_(False) is net)
attempt(lambda: [p.requires_grad for p in net.parameters()])
net.requires_grad_()
attempt(lambda: net.double().b.weight.dtype)
attempt(lambda: net.b.weight)
attempt(lambda: net.float().b.weight.dtype)
attempt(lambda: net.to(torch.float64).b.weight.dtype)
attempt(lambda: net.to(torch.int64))
attempt(lambda: net.to("cpu") is net)
attempt(lambda: net.to("cpu", torch.float32).b.weight.dtype)
attempt(lambda: net.to(torch.ones(1, dtype=torch.float64)).b.weight.dtype)
attempt(lambda: net.half().b.bias.dtype)
attempt(lambda: net.type(torch.float32).b.bias.dtype)
attempt(lambda: net.cpu() is net)
attempt(lambda: net.cuda())
net = net.float()
net(torch.ones(1, 2)).sum().backward()
attempt(lambda: [p.grad is None for p in net.parameters()])
net.zero_grad(set_to_none=False)
attempt(lambda: [p.grad for p in net.parameters()][1])
net.zero_grad()
attempt(lambda: [p.grad is None for p in net.parameters()])
attempt(lambda: net.load_state_dict(net.state_dict()))
sd = net.state_dict()
sd["extra"] = torch.ones(1)
w = sd.pop("b.weight")
attempt(lambda: net.load_state_dict(sd))
attempt(lambda: net.load_state_dict(sd, strict=False))
sd["b.weight"] = torch.ones(2, 2)
attempt(lambda: net.load_state_dict(sd))
attempt(lambda: net.load_state_dict(sd, strict=False))
sd["b.weight"] = 3
attempt(lambda: net.load_state_dict(sd, strict=False))
attempt(lambda: net.load_state_dict([1]))
attempt(lambda: net.load_state_dict({"b.weight": torch.full((1, 3), 7.0)}, strict=False))
attempt(lambda: net.b.weight)
attempt(lambda: net.load_state_dict({"b.weight": torch.full((1, 3), 5.0)}, strict=False, assign=True))
attempt(lambda: net.b.weight)
names = []
net.apply(lambda m: names.append(type(m).__name__))
attempt(lambda: names)


class F(nn.Module):
    def extra_repr(self):
        return "a=1\nb=2"


class G(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = F()
        self.n = None
        self.g = nn.Sequential()

    def extra_repr(self):
        return "zip"


attempt(lambda: F())
attempt(lambda: G())
attempt(lambda: F()(1))
attempt(lambda: nn.Module())
attempt(lambda: nn.Module()(2))
attempt(lambda: nn.Module(3))
attempt(lambda: nn.Module(a=3))
attempt(lambda: type(net))
attempt(lambda: type(nn.Module()))
attempt(lambda: isinstance(net, nn.Module))
attempt(lambda: issubclass(G, nn.Module))


def dele(n):
    del e.lin
    return e


attempt(lambda: dele("lin"))
attempt(lambda: e.lin)
attempt(lambda: e._parameters.keys())
attempt(lambda: list(e._modules))
attempt(lambda: e._buffers)
attempt(lambda: e._get_name())
attempt(lambda: net.training)
attempt(lambda: len(net))
attempt(lambda: [l for l in net])
attempt(lambda: "b" in dict(net.named_children()))
h = nn.Module()
h.b = nn.Buffer(torch.ones(2))
h.c = nn.Buffer(torch.ones(2), persistent=False)
attempt(lambda: list(h.state_dict()))
attempt(lambda: [n for n, b in h.named_buffers()])
attempt(lambda: type(h.b))
import copy

n2 = copy.deepcopy(net)
attempt(lambda: n2)
attempt(lambda: torch.equal(n2.b.weight, net.b.weight))
attempt(lambda: n2.b.weight is net.b.weight)
attempt(lambda: n2.b.weight.requires_grad)


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0
        self.register_buffer("total", torch.zeros(1))

    def forward(self, x):
        self.n += 1
        self.total = self.total + x
        return self.total


c = Counter()
c(1.0)
c(2.0)
attempt(lambda: c.n)
attempt(lambda: c.total)
attempt(lambda: c.state_dict())


class H(nn.Module):
    w = 3

    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(1))


attempt(lambda: H().w)


class Ex(nn.Module):
    def get_extra_state(self):
        return {"k": 1}

    def set_extra_state(self, s):
        self.s = s


x = Ex()
attempt(lambda: x.state_dict())
attempt(lambda: x.load_state_dict({"_extra_state": 5}))
attempt(lambda: x.s)
attempt(lambda: x.load_state_dict({}))
