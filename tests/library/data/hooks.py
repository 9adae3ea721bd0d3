import torch
from torch import nn


def attempt(function):
    try:
        print(function())
    except Exception as error:
        print(type(error).__name__, error)


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
x = torch.tensor([[1.0, -2.0]], requires_grad=True)
log = []


def pre(m, args):
    log.append(("pre", type(m).__name__, len(args)))


def post(m, args, out):
    log.append(("post", type(m).__name__, out.shape))


h1 = net[0].register_forward_pre_hook(pre)
h2 = net[0].register_forward_hook(post)
net(x)
attempt(lambda: log)
h1.remove()
h2.remove()
h2.remove()
log.clear()
net(x)
attempt(lambda: log)
h = net[1].register_forward_hook(lambda m, a, o: o * 0 + 1)
attempt(lambda: net(x))
h.remove()
h = net[1].register_forward_pre_hook(lambda m, a: (a[0] * 0,))
attempt(lambda: net(x))
h.remove()
h = net[1].register_forward_pre_hook(lambda m, a: a[0] * 0)
attempt(lambda: net(x))
h.remove()


class K(nn.Module):
    def forward(self, x, s=1.0, fail=False):
        if fail:
            raise ValueError("boo")
        return x * s


k = K()
h = k.register_forward_pre_hook(lambda m, a, kw: (a, {"s": 5.0}), with_kwargs=True)
attempt(lambda: k(x, s=2.0))
h.remove()
h = k.register_forward_pre_hook(lambda m, a, kw: 3, with_kwargs=True)
attempt(lambda: k(x, s=2.0))
h.remove()
h = k.register_forward_hook(lambda m, a, kw, o: print("kw", kw), with_kwargs=True)
attempt(lambda: k(x, s=2.0))
h.remove()
h = k.register_forward_hook(lambda m, a, o: print("always", o), always_call=True)
attempt(lambda: k(x, fail=True))
attempt(lambda: k(x))
h.remove()
order = []
a = k.register_forward_hook(lambda m, a, o: order.append("a"))
b = k.register_forward_hook(lambda m, a, o: order.append("b"), prepend=True)
k(x)
attempt(lambda: order)
a.remove()
b.remove()
with k.register_forward_hook(lambda m, a, o: o + 1):
    attempt(lambda: k(x))
attempt(lambda: k(x))


def show(name):
    def hook(m, gi, go):
        print(name, type(m).__name__, gi, go)

    return hook


hs = [m.register_full_backward_hook(show("full")) for m in net]
y = net(x)
print(y)
y.sum().backward()
print(x.grad)
for h in hs:
    h.remove()
x.grad = None
h = net[2].register_full_backward_hook(lambda m, gi, go: (gi[0] * 10,))
net(x).sum().backward()
print(x.grad)
h.remove()
x.grad = None
h = net[2].register_full_backward_pre_hook(lambda m, go: (go[0] * 2,))
h2 = net[2].register_full_backward_hook(show("f"))
net(x).sum().backward()
print(x.grad)
h.remove()
h2.remove()
x.grad = None
h = net[2].register_full_backward_hook(lambda m, gi, go: (gi[0], gi[0]))
attempt(lambda: net(x).sum().backward())
h.remove()
h = net[2].register_full_backward_pre_hook(lambda m, go: (go[0], go[0]))
attempt(lambda: net(x).sum().backward())
h.remove()
h = net[1].register_full_backward_hook(lambda m, gi, go: (gi[0][0],))
attempt(lambda: net(x).sum().backward())
h.remove()
x.grad = None


class Two(nn.Module):
    def forward(self, a, b, c=3):
        return a * 2, b * 3


two = Two()
two.register_full_backward_hook(show("two"))
u = torch.ones(2, requires_grad=True)
v = torch.ones(2, requires_grad=True)
w = torch.ones(2)
p, q = two(u, v)
(p.sum()).backward()
print(u.grad, v.grad)
u.grad = v.grad = None
p, q = two(u, v)
(p.sum() + 2 * q.sum()).backward()
print(u.grad, v.grad)
u.grad = None
p, q = two(u, w, 4)
(p.sum() + q.sum()).backward()
print(u.grad)
print(p, q)
with torch.no_grad():
    print(two(u, v))
print(torch.autograd.grad(two(u, v)[0].sum(), u, create_graph=True))
l = nn.Linear(2, 1)
l.register_full_backward_hook(show("noinput"))
l(w).sum().backward()
print(l.weight.grad)
attempt(lambda: l.register_backward_hook(show("x")))
d = two(u, v)[0]


def ip():
    d.add_(1)


attempt(ip)
m = nn.Linear(1, 1)
m.register_state_dict_post_hook(lambda m, sd, p, md: print("sd", list(sd), p, md))
m.register_state_dict_pre_hook(lambda m, p, k: print("pre", p, k))
m.register_load_state_dict_pre_hook(lambda m, sd, p, md, s, mi, un, er: print("load", p, md, s))
m.register_load_state_dict_post_hook(lambda m, i: print("loaded", i))
attempt(lambda: m.load_state_dict(m.state_dict()))
print(len(m._forward_hooks))
