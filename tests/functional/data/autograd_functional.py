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
import torch.autograd.functional as AF

ff = lambda x: x * x
for vec in (False, True):
    attempt(f"jac {vec}", lambda: AF.jacobian(ff, v, vectorize=vec))
    attempt(f"jac multi {vec}", lambda: AF.jacobian(lambda x, y: (x * y, x.sum()), (v, v), vectorize=vec))
    attempt(f"jac fwd {vec}", lambda: AF.jacobian(ff, v, vectorize=vec, strategy="forward-mode"))
    attempt(f"jac indep {vec}", lambda: AF.jacobian(lambda x: torch.ones(2), v, vectorize=vec))
    attempt(f"jac indep partial {vec}", lambda: AF.jacobian(lambda x, y: x * 2, (v, v), vectorize=vec))
    attempt(f"hess {vec}", lambda: AF.hessian(lambda x: (x**3).sum(), v, vectorize=vec))
    attempt(f"hess multi {vec}", lambda: AF.hessian(lambda x, y: (x**3 * y).sum(), (v, v), vectorize=vec))
    attempt(f"hess strict {vec}", lambda: AF.hessian(lambda x: (x**3).sum(), v, vectorize=vec, strict=True))
    attempt(f"jac strict {vec}", lambda: AF.jacobian(ff, v, vectorize=vec, strict=True))
    attempt(f"hess linear {vec}", lambda: AF.hessian(lambda x: x.sum(), v, vectorize=vec))
    attempt(f"jac dd {vec}", lambda: AF.jacobian(lambda x: x[x > 1], v, vectorize=vec))
    attempt(f"jac item {vec}", lambda: AF.jacobian(lambda x: x * x.sum().item(), v, vectorize=vec))
    attempt(f"jac no_grad {vec}", lambda: torch.no_grad()(lambda: AF.jacobian(ff, v, vectorize=vec))())
attempt("inner functional in vmap", lambda: vmap(lambda x: AF.jacobian(ff, x))(a))
x = v.clone().requires_grad_()
yy = x**2
attempt("is_grads_batched", lambda: torch.autograd.grad(yy, x, torch.eye(3), is_grads_batched=True, retain_graph=True))
attempt(
    "is_grads_batched bad",
    lambda: torch.autograd.grad(yy, x, torch.ones(3, 2), is_grads_batched=True, retain_graph=True),
)
z = torch.ones(3, requires_grad=True)
attempt(
    "is_grads_batched unused",
    lambda: torch.autograd.grad(yy, (x, z), torch.eye(3), is_grads_batched=True, retain_graph=True, allow_unused=True),
)
attempt(
    "is_grads_batched unused err",
    lambda: torch.autograd.grad(yy, (x, z), torch.eye(3), is_grads_batched=True, retain_graph=True),
)
attempt(
    "is_grads_batched mat",
    lambda: torch.autograd.grad(
        yy, (x, z), torch.eye(3), is_grads_batched=True, retain_graph=True, materialize_grads=True
    ),
)
attempt("vmap autograd grad", lambda: vmap(lambda g: torch.autograd.grad(yy, x, g, retain_graph=True)[0])(torch.eye(3)))


def hook(g):
    print(g)
    return None


x2 = v.clone().requires_grad_()
x2.register_hook(hook)
y2 = x2 * x2
