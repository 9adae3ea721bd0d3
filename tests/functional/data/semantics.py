import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, stack_module_state, vjp, vmap

torch.set_default_dtype(torch.float64)


def attempt(label, function):
    try:
        print(label, "->", function())
    except Exception as error:
        print(label, "!!", type(error).__name__, error)


torch.manual_seed(0)
x = torch.tensor([0.5, -1.0, 2.0])
w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)

# no_grad: obeyed inside, not outside


def halved(x):
    with torch.no_grad():
        c = x**2
    return (x * c - c).sum()


attempt("inner no_grad", lambda: grad(halved)(x))
with torch.no_grad():
    attempt("outer no_grad", lambda: grad(lambda x: (x**3).sum())(x))
    attempt("outer no_grad, captured", lambda: grad(lambda x: (x**2 * w).sum())(x).requires_grad)
    attempt("outer no_grad, vjp", lambda: vjp(lambda x: x * w, x)[1](x)[0].requires_grad)
    attempt("inside", lambda: grad(lambda x: (x**2).sum() * torch.is_grad_enabled())(x))
attempt("captured", lambda: grad(lambda x: (x**2 * w).sum())(x).requires_grad)
attempt("not captured", lambda: grad(lambda x: (x**2).sum())(x).requires_grad)
attempt("a leaf", lambda: grad(lambda x: (x**2).sum())(w).requires_grad)
attempt("no .grad", lambda: (grad(lambda x: (x**2).sum())(w), w.grad)[1])


def between(x):
    with torch.no_grad():
        inner = grad(lambda y: (y**3).sum())(x)
    return (inner * x).sum()


attempt("no_grad between", lambda: grad(between)(x))
g = grad(lambda x: (x**2 * w).sum())(x)
g.sum().backward()
attempt("backward through", lambda: w.grad)
w.grad = None
value, pull = vjp(lambda x: x**2 * w, x)
value.sum().backward()
attempt("backward through a value", lambda: w.grad)
w.grad = None
pull(torch.ones(3))[0].sum().backward()
attempt("backward through a pullback", lambda: w.grad)
attempt("requires_grad inside", lambda: grad(lambda x: (x * float(x.requires_grad)).sum())(x))
attempt("detach", lambda: grad(lambda x: (x.detach() * x).sum())(x))
attempt("vjp of a constant", lambda: vjp(lambda x: w.detach(), x)[1](x))
attempt("grad of an output that is the input", lambda: grad(lambda x: x)(torch.tensor(2.0)))
attempt("aux", lambda: grad(lambda x: ((x**2).sum(), {"a": x + 1, "b": (x, [x.sum()])}), has_aux=True)(x))
attempt("value is plain", lambda: grad_and_value(lambda x: (x**2).sum())(x)[1].requires_grad)

# derivatives in one another

one = torch.tensor(1.0)
attempt("gg", lambda: grad(lambda x: x * grad(lambda y: x + y)(one))(one))
attempt("jj", lambda: jvp(lambda x: x * jvp(lambda y: x + y, (one,), (one,))[1], (one,), (one,)))
attempt("gj", lambda: grad(lambda x: x * jvp(lambda y: x + y, (one,), (one,))[1])(one))
attempt("jg", lambda: jvp(lambda x: x * grad(lambda y: x + y)(one), (one,), (one,)))
attempt("vgg", lambda: vmap(grad(lambda x: x * grad(lambda y: x * y)(x)))(torch.arange(3.0)))
attempt("gvg", lambda: grad(lambda x: vmap(grad(lambda y: (x * y**2).sum()))(x * torch.ones(3)).sum())(2 * one))
attempt("ggg", lambda: grad(lambda x: grad(lambda y: grad(lambda z: (x * y * z) ** 2)(y))(x))(2 * one))
attempt("gvj", lambda: grad(lambda s: vmap(lambda t: jvp(lambda y: y**3 * s, (s,), (t,))[1])(x).sum())(2 * one))
attempt("jvp of vjp", lambda: jvp(lambda x: vjp(torch.sin, x)[1](x)[0], (x,), (x,)))
attempt("vjp of jvp", lambda: vjp(lambda x: jvp(torch.sin, (x,), (x,))[1], x)[1](x))
attempt("gradient by a cotangent", lambda: grad(lambda c: (vjp(torch.sin, x)[1](c)[0] * x).sum())(x))
f = lambda x: (x**3).sum() + x.prod()
for outer in (jacfwd, jacrev):
    for middle in (jacfwd, jacrev):
        attempt("second", lambda: outer(middle(f))(x))
        for inner in (jacfwd, jacrev):
            attempt("third", lambda: outer(middle(inner(f)))(x).sum((0, 1)))
attempt("hessians", lambda: vmap(hessian(f))(torch.stack([x, 2 * x])))
attempt("hvp", lambda: jvp(grad(f), (x,), (x,))[1])
attempt("hvps", lambda: vmap(lambda v: jvp(grad(f), (x,), (v,))[1])(torch.eye(3)))
attempt("vhps", lambda: vmap(lambda v: vjp(grad(f), x)[1](v)[0])(torch.eye(3)))
attempt("jacobian of vmap", lambda: jacrev(vmap(lambda r: r.sum() * r))(torch.stack([x, 2 * x])).sum((0, 1)))

# examples without and with parameters of their own

net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
params = {name: value.detach() for name, value in net.named_parameters()}
X, t = torch.randn(5, 3), torch.tensor([0, 1, 1, 0, 1])


def loss(params, x, t):
    return F.cross_entropy(functional_call(net, params, (x.unsqueeze(0),)), t.unsqueeze(0))


per_sample = vmap(grad(loss), in_dims=(None, 0, 0))(params, X, t)
for name, value in per_sample.items():
    attempt(name, lambda: (tuple(value.shape), value.sum(0).flatten()[:3]))
    mean = grad(lambda p: F.cross_entropy(functional_call(net, p, (X,)), t))(params)[name]
    attempt("their mean", lambda: torch.allclose(value.mean(0), mean))
attempt("losses", lambda: vmap(loss, in_dims=(None, 0, 0))(params, X, t))
nets = [nn.Linear(3, 2) for _ in range(4)]
stacked, buffers = stack_module_state(nets)
base = nn.Linear(3, 2)
outs = vmap(lambda p, b, x: functional_call(base, (p, b), (x,)), in_dims=(0, 0, None))(stacked, buffers, X)
attempt("ensemble", lambda: torch.allclose(outs, torch.stack([n(X) for n in nets])))
outs = vmap(lambda p, b, x: functional_call(base, (p, b), (x,)))(stacked, buffers, X[:4])
attempt("ensemble, one each", lambda: torch.allclose(outs, torch.stack([n(r) for n, r in zip(nets, X)])))
conv = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8, 2))
weights = {name: value.detach() for name, value in conv.named_parameters()}
images = torch.randn(3, 1, 6, 6)


def conv_loss(weights, x, t):
    return F.cross_entropy(functional_call(conv, weights, (x.unsqueeze(0),)), t.unsqueeze(0))


found = vmap(grad(conv_loss), in_dims=(None, 0, 0))(weights, images, t[:3])
turns = [grad(conv_loss)(weights, x, one) for x, one in zip(images, t)]
attempt("convolution", lambda: [torch.allclose(found[n], torch.stack([g[n] for g in turns])) for n in weights])
embed = nn.Embedding(5, 3)
tokens = torch.tensor([[0, 1], [4, 4]])
table = embed.weight.detach()
attempt("embedding", lambda: vmap(grad(lambda w, t: (F.embedding(t, w) ** 2).sum()), in_dims=(None, 0))(table, tokens).sum(2))
norm = nn.LayerNorm(3)
attempt("layer norm", lambda: vmap(norm)(X).allclose(norm(X)))
attempt("batch norm, eval", lambda: vmap(nn.BatchNorm1d(3).eval())(X.unsqueeze(1)).shape)
attempt("batch norm, training", lambda: vmap(nn.BatchNorm1d(3))(torch.randn(2, 4, 3)))
attempt("step inside", lambda: grad(lambda lr: loss({n: p - lr * g for (n, p), g in zip(params.items(), grad(loss)(params, X[0], t[0]).values())}, X[1], t[1]))(torch.tensor(0.1)))
