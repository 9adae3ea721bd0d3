import torch

torch.set_default_dtype(torch.float64)


def attempt(label, function):
    try:
        print(label, "->", function())
    except Exception as error:
        print(label, "!!", type(error).__name__, error)


from torch.autograd import gradcheck, gradgradcheck

x = torch.tensor([0.3, -0.7, 1.2], requires_grad=True)
m = torch.tensor([[1.0, 0.2], [0.4, 2.0]], requires_grad=True)
attempt("sin", lambda: gradcheck(torch.sin, x))
attempt("several", lambda: gradcheck(lambda a, b: (a.sum() * b, (a**2).sum()), (x, m)))
attempt("inverse", lambda: gradcheck(torch.linalg.inv, (m,)))
attempt("twice", lambda: gradgradcheck(torch.linalg.det, (m,)))
attempt("fast", lambda: gradcheck(torch.tanh, x, fast_mode=True))
attempt("forward", lambda: gradcheck(torch.tanh, x, check_forward_ad=True))
attempt("batched", lambda: gradcheck(torch.tanh, x, check_batched_grad=True))
attempt("forward over reverse", lambda: gradgradcheck(torch.tanh, x, check_fwd_over_rev=True))
attempt("no gradient", lambda: gradcheck(torch.sin, x.detach()))
attempt("kink", lambda: gradcheck(torch.abs, torch.zeros(1, requires_grad=True), raise_exception=False))
attempt("detached", lambda: gradcheck(lambda a: a.detach() * a, x, raise_exception=False))
attempt("no_grad", lambda: gradcheck(lambda a: (a.detach() * 2), x, raise_exception=False))
attempt("integers", lambda: gradcheck(lambda a: (a * 2).round().long(), x))
attempt("settings", lambda: gradcheck(torch.sin, x, eps=1e-4, atol=1e-12, rtol=0.0, raise_exception=False))

torch.manual_seed(1)


class Off(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a * 2

    @staticmethod
    def backward(ctx, g):
        return g * 3


def message(function):
    try:
        print(function())
    except Exception as error:
        print(type(error).__name__)
        print(error)


message(lambda: gradcheck(Off.apply, torch.tensor([1.0, 2.0], requires_grad=True)))
message(lambda: gradcheck(lambda a: torch.rand(3) * a, x))
