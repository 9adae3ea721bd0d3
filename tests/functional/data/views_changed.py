import torch

torch.set_default_dtype(torch.float64)
y = torch.tensor([1.0, 2.0], requires_grad=True)
def attempt(name, f):
    y.grad = None
    try:
        f().sum().backward(); print(name, y.grad)
    except RuntimeError as e:
        print(name, str(e)[:170])
def a():
    x = torch.zeros(3, 2); x[0] = y.exp(); x.mul_(2.0); return x
def b():
    x = torch.zeros(3, 2); x[0:2] = y.exp(); x.mul_(2.0); return x
def c():
    x = torch.zeros(3, 2); x[0].copy_(y.exp()); x.mul_(2.0); return x
def e():
    x = torch.zeros(2); x.copy_(y.exp()); x.mul_(2.0); return x
def f():
    x = torch.zeros(2); x[:] = y.exp(); x.mul_(2.0); return x
def g():
    x = torch.zeros(2); x[0] = y.exp()[0]; x.mul_(2.0); return x
def h():
    x = torch.zeros(2); x[[0, 1]] = y.exp(); x.mul_(2.0); return x
def i():
    x = torch.zeros(2, dtype=torch.float32); x[:2] = y.exp(); x.mul_(2.0); return x
def j():
    x = torch.zeros(2); x.data = y.exp().data; x[:] = y.tanh(); x.add_(2.0); return x
def k():
    x = torch.zeros(2, 2); x.diagonal().copy_(y.exp()); x.exp_(); x += 1; return x
def m():
    x = torch.zeros(2, 2); x[0] += y.exp(); x *= 2; return x
def n():
    x = torch.zeros(2, 2); x[0].add_(y.exp()); x[1].copy_(x[0].exp()); x *= 2; return x
def o():
    x = torch.zeros(2, 2); s = y.exp(); x[0] = s; s.mul_(2); return x
def p():
    x = torch.zeros(2); s = y.exp(); x.copy_(s); x.sin_(); x.mul_(3); return x
for q in (a, b, c, e,f,g,h,i,j, k, m,n,o,p): attempt(q.__name__, q)
