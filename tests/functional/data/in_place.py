import torch
import torch.nn.functional as F
from torch.func import functional_call, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp, vmap

torch.set_default_dtype(torch.float64)


def attempt(label, function):
    try:
        print(label, "->", function())
    except Exception as error:
        print(label, "!!", type(error).__name__, error)


a = torch.arange(6.0).view(2, 3)
b = torch.ones(2, 3)
v = torch.tensor([1.0, 2.0, 3.0])
y = torch.ones(3)


def f(x):
    y.add_(x)
    return y.sum()


attempt("grad inplace captured", lambda: grad(f)(v))


def f(x):
    y.mul_(2)
    return (x * y).sum()


attempt("grad inplace captured2", lambda: grad(f)(v))


def f(x):
    y[0] = 5.0
    return (x * y).sum()


attempt("grad inplace captured3", lambda: grad(f)(v))


def f(x):
    y[0] = x[0]
    return (x * y).sum()


attempt("grad inplace captured4", lambda: grad(f)(v))


def f(x):
    y.copy_(x)
    return (x * y).sum()


attempt("grad inplace captured5", lambda: grad(f)(v))


def f(x):
    x.add_(1)
    return x.sum()


attempt("grad inplace input", lambda: grad(f)(v))


def f(x):
    x[0] = 1.0
    return x.sum()


attempt("grad inplace input2", lambda: grad(f)(v))


def f(x):
    z = torch.zeros(3)
    z[0] = x[0]
    z += x
    return (z * z).sum()


attempt("grad inplace local", lambda: grad(f)(v))


def f(x):
    z = x.clone()
    z *= 2
    return (z * z).sum()


attempt("grad inplace local2", lambda: grad(f)(v))
attempt("vjp inplace input", lambda: vjp(lambda x: x.add_(1), v.clone()))


def f(x):
    x = x.clone()
    x.add_(1)
    return x


attempt("jvp inplace", lambda: jvp(f, (v,), (v,)))
attempt("jvp inplace input", lambda: jvp(lambda x: x.add_(1), (v.clone(),), (v,)))


def f(x):
    y.mul_(2)
    return (x * y).sum()


attempt("jvp inplace captured", lambda: jvp(f, (v,), (v,)))


def f(x):
    y.add_(x)
    return y.sum()


attempt("jvp inplace captured2", lambda: jvp(f, (v,), (v,)))


def f(x):
    y.add_(x)
    return y


attempt("vmap inplace captured", lambda: vmap(f)(a))


def f(x):
    y[0] = x[0]
    return y


attempt("vmap inplace captured setitem", lambda: vmap(f)(a))


def f(x):
    y[:2] = x[:2]
    return y


attempt("vmap inplace captured setitem2", lambda: vmap(f)(a))


def f(x):
    y.copy_(x)
    return y


attempt("vmap inplace captured copy_", lambda: vmap(f)(a))


def f(x):
    y.mul_(2)
    return y * x


attempt("vmap inplace captured unbatched", lambda: (vmap(f)(a), y))


def f(x):
    z = torch.zeros(3)
    z.add_(x)
    return z


attempt("vmap inplace local", lambda: vmap(f)(a))


def f(x):
    z = torch.zeros_like(x)
    z.add_(x)
    z[0] = x[1]
    return z


attempt("vmap inplace zeros_like", lambda: vmap(f)(a))


def f(x):
    z = x.new_zeros(2)
    z[0] = x[1]
    return z


attempt("vmap inplace new_zeros", lambda: vmap(f)(a))


def f(x):
    z = torch.empty_like(x).fill_(2.0)
    z.mul_(x)
    return z


attempt("vmap inplace empty_like", lambda: vmap(f)(a))


def f(x):
    x.add_(1)
    return x


aa = a.clone()
attempt("vmap inplace input", lambda: (vmap(f)(aa), aa))


def f(x):
    z = torch.zeros(3)
    z.fill_(x[0])
    return z


attempt("vmap fill_", lambda: vmap(f)(a))


def f(x):
    z = torch.zeros(3)
    z.masked_fill_(x > 1, 1.0)
    return z


attempt("vmap masked_fill_", lambda: vmap(f)(a))


def f(x):
    z = torch.zeros(3)
    z.index_put_((torch.tensor([0]),), x[:1])
    return z


attempt("vmap index_put_", lambda: vmap(f)(a))


def f(x):
    z = torch.zeros(3)
    z[torch.tensor([0])] = x[:1]
    return z


attempt("vmap setitem idx", lambda: vmap(f)(a))


def f(x):
    z = torch.zeros(3)
    z.scatter_(0, torch.tensor([0]), x[:1])
    return z


attempt("vmap scatter_", lambda: vmap(f)(a))


def f(x):
    z = torch.zeros(3)
    z.index_add_(0, torch.tensor([0]), x[:1])
    return z


attempt("vmap index_add_", lambda: vmap(f)(a))


def f(x):
    z = torch.zeros(3)
    z.clamp_(x[0])
    return z


attempt("vmap clamp_", lambda: vmap(f)(a))


def f(x):
    z = torch.zeros(3)
    z.addcmul_(x, x)
    return z


attempt("vmap addcmul_", lambda: vmap(f)(a))


def f(x):
    z = torch.zeros(3)
    z.lerp_(x, 0.5)
    return z


attempt("vmap lerp_", lambda: vmap(f)(a))


def f(x):
    z = torch.zeros(3)
    z.pow_(x)
    return z


attempt("vmap pow_", lambda: vmap(f)(a))


def f(x):
    z = torch.zeros(3)
    z /= x
    return z


attempt("vmap /=", lambda: vmap(f)(a))


def f(x):
    z = torch.zeros(3)
    z -= x
    return z


attempt("vmap -=", lambda: vmap(f)(a))
attempt("vmap out=", lambda: vmap(lambda x: torch.add(x, x, out=torch.zeros(3)))(a))
