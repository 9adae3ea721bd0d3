import torch
from collections import OrderedDict
from torch import nn

torch.manual_seed(0)


def attempt(function):
    try:
        print(function())
    except Exception as error:
        print(type(error).__name__, error)


s = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
attempt(lambda: s)
attempt(lambda: s[0])
attempt(lambda: s[-1])
attempt(lambda: s[1:])
attempt(lambda: s[5])
attempt(lambda: len(s))
attempt(lambda: s.append(nn.ReLU()))
attempt(lambda: s.insert(0, nn.ReLU()))
attempt(lambda: s.insert(9, nn.ReLU()))
attempt(lambda: s.insert(0, 3))
attempt(lambda: s.extend([nn.ReLU()]))
attempt(lambda: s + nn.Sequential(nn.ReLU()))
attempt(lambda: s + 3)
attempt(lambda: s * 2)
attempt(lambda: 2 * s)
attempt(lambda: s * 0)
attempt(lambda: s * 1.5)
attempt(lambda: s.pop(1))
attempt(lambda: s)
s2 = nn.Sequential(OrderedDict(a=nn.Linear(2, 3), b=nn.ReLU()))
attempt(lambda: s2)
attempt(lambda: s2.a)
attempt(lambda: s2[0:1])
attempt(lambda: nn.Sequential(nn.ReLU(), 3))
attempt(lambda: nn.Sequential({"a": nn.ReLU()}))
attempt(lambda: nn.Sequential(nn.ReLU))


def d():
    del s[0]
    return s


attempt(d)


def d():
    del s[1:3]
    return s


attempt(d)


def d():
    s[0] = nn.Linear(7, 7)
    return s


attempt(d)


def d():
    s3 = nn.Sequential(nn.ReLU())
    s3 += nn.Sequential(nn.ReLU())
    s3 *= 2
    return s3


attempt(d)
m = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 2)])
attempt(lambda: m)
attempt(lambda: m[1:3])
attempt(lambda: m[9])
attempt(lambda: m.append(nn.ReLU()))
attempt(lambda: m.insert(1, nn.ReLU()))
attempt(lambda: m)
attempt(lambda: m + [nn.ReLU()])
attempt(lambda: m.extend(3))
attempt(lambda: m.pop(0))
attempt(lambda: m)
attempt(lambda: nn.ModuleList())
attempt(lambda: nn.ModuleList([nn.Sequential(nn.ReLU(), nn.ReLU()), nn.Sequential(nn.ReLU(), nn.ReLU())]))
attempt(lambda: nn.ModuleList(3))
attempt(lambda: m.append(3))
attempt(lambda: m["a"])


def d():
    del m[0]
    m[0] = nn.ReLU()
    return m


attempt(d)
D = nn.ModuleDict({"x": nn.Linear(1, 2), "y": nn.ReLU()})
attempt(lambda: D)
attempt(lambda: D["x"])
attempt(lambda: D["z"])
attempt(lambda: list(D.keys()))
attempt(lambda: "x" in D)
attempt(lambda: D.pop("x"))
attempt(lambda: D.update([("q", nn.ReLU())]))
attempt(lambda: D)
attempt(lambda: nn.ModuleDict([("a", nn.ReLU()), 3]))
attempt(lambda: nn.ModuleDict([("a",)]))
attempt(lambda: nn.ModuleDict(3))
attempt(lambda: nn.ModuleDict({"keys": nn.ReLU()}))
attempt(lambda: nn.ModuleDict({3: nn.ReLU()}))
attempt(lambda: nn.ModuleDict({"a.b": nn.ReLU()}))
attempt(lambda: D.clear())
attempt(lambda: D)


def d():
    del D["nope"]


attempt(d)
P = nn.ParameterList([torch.ones(2, 3), nn.Parameter(torch.ones(2)), 5, torch.tensor(1.0)])
attempt(lambda: P)
attempt(lambda: P[0])
attempt(lambda: P[1:])
attempt(lambda: len(P))
attempt(lambda: P[7])
attempt(lambda: P(3))
attempt(lambda: nn.ParameterList(3))
attempt(lambda: nn.ParameterList(torch.ones(3)))
attempt(lambda: P.append(torch.ones(1)))
attempt(lambda: P)
attempt(lambda: [n for n, _ in P.named_parameters()])
Q = nn.ParameterDict({"b": torch.ones(2, 3), "a": nn.Parameter(torch.ones(2)), "c": "s"})
attempt(lambda: Q)
attempt(lambda: list(Q))
attempt(lambda: Q["b"])
attempt(lambda: Q[3])
attempt(lambda: Q.popitem())
attempt(lambda: Q.setdefault("z", torch.ones(1)))
attempt(lambda: Q.get("n"))
attempt(lambda: Q | {"k": torch.ones(1)})
attempt(lambda: Q.update(3))
attempt(lambda: Q.update([3]))
attempt(lambda: Q.update([(1, 2, 3)]))
attempt(lambda: list(reversed(Q)))
attempt(lambda: Q.fromkeys(["a", "b"], 1))
attempt(lambda: Q())
attempt(lambda: Q.pop("z"))
attempt(lambda: Q.clear())
attempt(lambda: Q)
attempt(lambda: Q["zz"])
