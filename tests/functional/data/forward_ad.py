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
import torch.autograd.forward_ad as fwAD


def outside():
    return fwAD.make_dual(v, v)


attempt("make_dual outside", outside)


def f():
    with fwAD.dual_level():
        d = fwAD.make_dual(v, v * 2)
        print(d, d.shape, d * d, d.requires_grad)
        o = fwAD.unpack_dual(d * d)
        print(o, type(o), o.primal, o.tangent)
        print(fwAD.unpack_dual(v))
        print(fwAD.unpack_dual(d).tangent, fwAD.unpack_dual(d.detach()))
        return o


attempt("basic", f)


def f():
    with fwAD.dual_level():
        d = fwAD.make_dual(v, v * 2)
    print(d, d * d)
    return fwAD.unpack_dual(d)


attempt("after exit unpack", f)


def f():
    with fwAD.dual_level():
        d = fwAD.make_dual(v, v * 2)
        o = d * d
    with fwAD.dual_level():
        return fwAD.unpack_dual(o)


attempt("stale", f)


def f():
    with fwAD.dual_level():
        with fwAD.dual_level():
            pass


attempt("nested", f)


def f():
    with fwAD.dual_level():
        return fwAD.make_dual(torch.tensor([1, 2]), torch.tensor([1, 2]))


attempt("int", f)


def f():
    with fwAD.dual_level():
        return fwAD.make_dual(v, torch.tensor([1, 2, 3]))


attempt("int tangent", f)


def f():
    with fwAD.dual_level():
        return fwAD.make_dual(v, torch.ones(2))


attempt("shape", f)


def f():
    with fwAD.dual_level():
        return fwAD.make_dual(v, v.float())


attempt("dtype", f)


def f():
    with fwAD.dual_level():
        return fwAD.make_dual(v, 3.0)


attempt("notensor", f)


def f():
    with fwAD.dual_level():
        return fwAD.make_dual(3.0, v)


attempt("notensor2", f)


def f():
    with fwAD.dual_level():
        d = fwAD.make_dual(v, v)
        return fwAD.make_dual(d, v)


attempt("dual of dual", f)
attempt("exit", lambda: fwAD.exit_dual_level())
attempt("enter", lambda: (fwAD.enter_dual_level(), fwAD.make_dual(v, v), fwAD.exit_dual_level()))
attempt("exit lvl", lambda: (fwAD.enter_dual_level(), fwAD.exit_dual_level(level=3)))
try:
    fwAD.exit_dual_level()
except Exception as e:
    print(e)


def f():
    w = v.clone().requires_grad_()
    with fwAD.dual_level():
        d = fwAD.make_dual(w, v)
        o = (d**3).sum()
        p, tt = fwAD.unpack_dual(o)
        print(o, p, tt)
        (g,) = torch.autograd.grad(tt, w, retain_graph=True)
        return g, torch.autograd.grad(p, w)


def f():
    w = v.clone().requires_grad_()
    with fwAD.dual_level():
        d = fwAD.make_dual(w, v)
        (g,) = torch.autograd.grad((d**3).sum(), d, create_graph=True)
        return fwAD.unpack_dual(g)


def f():
    with fwAD.dual_level():
        d = fwAD.make_dual(v, v)
        z = torch.zeros(3)
        z[0] = d[0]
        return fwAD.unpack_dual(z), fwAD.unpack_dual(z[1])


attempt("inplace", f)


def f():
    with fwAD.dual_level():
        d = fwAD.make_dual(v, v)
        with fwAD._set_fwd_grad_enabled(False) if hasattr(fwAD, "_set_fwd_grad_enabled") else None:
            return fwAD.unpack_dual(d * 2)


def f():
    with fwAD.dual_level():
        d = fwAD.make_dual(v, v)
        with torch.no_grad():
            r = d * 2
        return fwAD.unpack_dual(r)


attempt("no_grad", f)


def f():
    with fwAD.dual_level():
        d = fwAD.make_dual(v, v)
        return d.item() if 0 else (d.tolist(), d.numpy())


attempt("numpy", f)


def f():
    with fwAD.dual_level():
        d = fwAD.make_dual(v, v)
        return torch.func.jvp(lambda x: x * d, (v,), (v,))


attempt("func in dual", f)


def f():
    with fwAD.dual_level() as l:
        return l, fwAD.enter_dual_level
