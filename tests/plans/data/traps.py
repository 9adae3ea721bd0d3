"""What must not change where operations that come again are computed together."""

import torch
import torch.nn as nn
torch.manual_seed(0)
# type, isinstance, identity
w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
seen = []
for k in range(12):
    h = w * 2.0
    y = h + 1.0
    assert isinstance(y, torch.Tensor)
    seen.append((type(y).__name__, type(y) is torch.Tensor, y.shape == h.shape, y.dim(), y.dtype, y.requires_grad, y.is_leaf))
    z = torch.tanh(y).sum()
    d = {z: 1}
    z.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
    w.grad = None
print(seen[0] == seen[-1], seen[-1])
# data shared with numpy
a = torch.ones(3)
n = a.numpy()
outs = []
for k in range(12):
    y = (a * w).sum()
    n[0] = float(k)
    y2 = (a * w).sum()
    outs.append((round(y.item(), 4), round(y2.item(), 4)))
    y2.backward()
print(outs[:3], outs[-2:])
# data set
b = torch.ones(3)
for k in range(12):
    y = b * w
    b.data = torch.full((3,), float(k))
    y2 = (b * w).sum()
    r = (y.sum().item(), y2.item())
    y2.backward()
print(r)
# constants that change
vals = []
for k in range(14):
    c = 2.0 if k < 12 else 3.0
    y = (w * c).sum()
    y.backward()
    vals.append(y.item())
print(vals[-3:])
# growing a list of live values
keep = []
for k in range(12):
    h = torch.sin(w * 0.5)
    keep.append(h)
    (h * h).sum().backward()
print(len(keep), keep[3].grad_fn.name(), all(torch.equal(keep[0], q) for q in keep))
# backward twice
for k in range(12):
    z = (w * w).sum()
    z.backward(retain_graph=True)
    z.backward()
    try:
        z.backward()
    except RuntimeError as e:
        m = str(e)[:40]
print(m)
# changed in place after use
for k in range(12):
    h = torch.exp(w)
    z = (h * w).sum()
    with torch.no_grad():
        h.mul_(2)
    try:
        z.backward()
        m = "no error"
    except RuntimeError as e:
        m = str(e)[:60]
print(m)
# carried state
h = torch.zeros(3)
for k in range(15):
    h = torch.tanh(h + w)
    l = (h * h).sum()
    l.backward()
    h = h.detach()
print(h)
# exceptions
for k in range(12):
    try:
        h = w * 2
        q = h @ torch.ones(2, 2)
    except RuntimeError as e:
        m = str(e)
    (h.sum()).backward()
print(m)
# another branch, another trip count, another shape
values = []
for k in range(24):
    x = torch.linspace(-1, 1, 3 + k % 2) * w.sum().detach()
    x.requires_grad_()
    y = x
    for _ in range(2 + k % 3):
        y = torch.sin(y) if y.sum() > -0.1 else torch.cos(y)
    (y * y).mean().backward()
    values.append(round(x.grad.sum().item(), 4))
print(values)
# recording switched off and on
for k in range(12):
    with torch.no_grad():
        a = w * 2
    b = w * 2
    with torch.no_grad():
        with torch.enable_grad():
            c = b * 3
        d = c + 1
    torch.set_grad_enabled(False)
    e = w * 5
    torch.set_grad_enabled(True)
    (b + c).sum().backward()
print(a.requires_grad, b.requires_grad, c.requires_grad, d.requires_grad, e.requires_grad)
# hooks in their order, on leaves, on what was computed, and on modules
for k in range(12):
    order = []
    net = nn.Linear(3, 2)
    handles = [net.register_forward_hook(lambda *_: order.append("forward")), w.register_hook(lambda g: order.append("leaf"))]
    h = net(w * 1.5)
    h.register_hook(lambda g: order.append("h"))
    z = (h * h).sum()
    z.register_hook(lambda g: order.append("z"))
    z.backward()
    for handle in handles:
        handle.remove()
print(order)
# second derivatives, of a function of a function
for k in range(12):
    x = torch.tensor([0.3, 0.7], requires_grad=True)
    y = (torch.exp(x) * torch.sin(x)).sum()
    g, = torch.autograd.grad(y, x, create_graph=True)
    h, = torch.autograd.grad(g.sum(), x, create_graph=True)
    t, = torch.autograd.grad(h.sum(), x, retain_graph=True)
    y.backward()
print(y, g, h, t)
# retain_grad before and after the value was used
for k in range(12):
    x = torch.tensor([0.3, 0.7], requires_grad=True)
    a = x * 2
    b = torch.tanh(a)
    c = b * a
    b.retain_grad()
    c.retain_grad()
    z = (c * b).sum()
    a.retain_grad()
    z.backward()
print(a.grad, b.grad, c.grad, x.grad)
# names of the graph
for k in range(12):
    y = torch.tanh(w * 2) + 1
    z = y.sum()
    names = [z.grad_fn.name(), y.grad_fn.name(), y.grad_fn.next_functions[0][0].name(), z.grad_fn.next_functions[0][0] is y.grad_fn]
    z.backward()
print(names, z)
# a function of one's own
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return 2 * x * g * 10

for k in range(12):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = Double.apply(torch.sin(x) * 2)
    (y + x).sum().backward()
print(x.grad)
# the same tensor as both operands, then different ones
for k in range(14):
    p = torch.tensor([1.0, 2.0], requires_grad=True)
    q = p if k < 12 else torch.tensor([3.0, 4.0], requires_grad=True)
    (p * q).sum().backward()
print(p.grad, q.grad)
# views that live, and are written to
for k in range(12):
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = x * 2
    v = y.t()
    v[0] *= 3
    (y * y).sum().backward()
print(x.grad, y, v)
# numbers that are not finite, and steps that depend on the turn
for k in range(12):
    x = torch.tensor(2.0, requires_grad=True)
    y = x * float("inf") if k % 2 else x * (k + 1)
    y.backward()
print(x.grad, y)
# optimisers
for make in (lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True), lambda p: torch.optim.Adam(p, lr=0.01)):
    m = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    with torch.no_grad():
        for j, p in enumerate(m.parameters()):
            p.copy_(torch.linspace(-0.5, 0.5, p.numel()).reshape(p.shape) + 0.1 * j)
    o = make(m.parameters())
    for k in range(20):
        o.zero_grad()
        loss = ((m(torch.ones(2, 3)) + 1.0) ** 2).mean()
        loss.backward()
        o.step()
    print(f"{loss.item():.5f}")
