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


class Fn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g


attempt("Fn in grad", lambda: grad(lambda x: Fn.apply(x).sum())(v))
attempt("Fn in vmap", lambda: vmap(lambda x: Fn.apply(x))(a))


class Fn2(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g


attempt("Fn2 in grad", lambda: grad(lambda x: Fn2.apply(x).sum())(v))
attempt("Fn2 in vmap", lambda: vmap(lambda x: Fn2.apply(x))(a))
attempt("Fn2 in vmap grad", lambda: vmap(grad(lambda x: Fn2.apply(x).sum()))(a))
attempt("Fn2 hessian", lambda: jacrev(jacrev(lambda x: Fn2.apply(x).sum()))(v))
attempt("Fn2 jvp", lambda: jvp(Fn2.apply, (v,), (v,)))


class Fn3(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g

    @staticmethod
    def jvp(ctx, t):
        (x,) = ctx.saved_tensors
        return 2 * x * t

    @staticmethod
    def vmap(info, in_dims, x):
        print(info, in_dims, type(x))
        return Fn3.apply(x), in_dims[0]


attempt("Fn3 in grad", lambda: grad(lambda x: Fn3.apply(x).sum())(v))
attempt("Fn3 in vmap", lambda: vmap(lambda x: Fn3.apply(x))(a))
attempt("Fn3 in vmap grad", lambda: vmap(grad(lambda x: Fn3.apply(x).sum()))(a))
attempt("Fn3 jvp", lambda: jvp(Fn3.apply, (v,), (v,)))
attempt("Fn3 jacfwd", lambda: jacfwd(Fn3.apply)(v))
