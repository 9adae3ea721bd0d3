import torch

torch.set_default_dtype(torch.float64)
y = torch.tensor([1.0], requires_grad=True)
def attempt(label, function):
    y.grad = None
    try:
        function().sum().backward()
        print(label, "->", y.grad)
    except RuntimeError as error:
        print(label, "!!", error)
def a():
    x = torch.zeros(3); v = x[0]; x += y; v.zero_(); return x
def b():
    x = torch.zeros(3); v = x[0]; x += y; print(v.is_leaf, v.requires_grad); v.zero_(); return x
def c():
    x = torch.zeros(3); v = x[:2]; x += y; v *= 3; return x
def d():
    x = torch.zeros(3); v = x[:2]; w = x[1:]; v += y; w *= y; return x * 2
def e():
    x = torch.zeros(3); v = x[:2]; s = v * 2; x += y; v[0] = 4.0; return x * 2
def f():
    x = torch.zeros(3)
    with torch.no_grad():
        v = x[:2]
    x += y; v *= 3; return x
def g():
    x = torch.zeros(3); v = x[:2][1:]; x += y; v.exp_(); return x
def h():
    x = y * torch.ones(3); v = x[:2]; x.detach_(); v *= 3; return x + y
def i():
    x = torch.zeros(3); v = x.detach(); x += y; v *= 3; return x
def j():
    x = torch.zeros(3); v = x[:2]; torch.nn.init.ones_(v); x += y; v.mul_(y).add_(1.0); return v
for q in (a, b, c, d, e, f, g, h, i, j): attempt(q.__name__, q)


def a():
    x = torch.zeros(3); v = x[:2]; v[0] = y.sum(); v.mul_(2); return x
def b():
    x = torch.zeros(3); v = x.movedim(0, 0); v[0] = y.sum(); v.mul_(2); return x
def c():
    x = torch.zeros(3); v = x[:2]; v[0].add_(y.sum()); v.mul_(2); return x
def d():
    x = torch.zeros(3); v = x[:2]; v[:1] += y; v.mul_(2); return x
def e():
    x = torch.zeros(3); v = x[:2]; v[[0]] = y; v.mul_(2); return x
def f():
    x = torch.zeros(2, 3); v = x[0]; v[1:] *= y; v += 1; return x
for q in (a, b, c, d, e, f): attempt(q.__name__, q)
