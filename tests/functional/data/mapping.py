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
attempt("none indims", lambda: vmap(lambda x: x, in_dims=None)(a))
attempt("all none", lambda: vmap(lambda x, y: x, in_dims=(None, None))(a, b))
attempt("mismatch", lambda: vmap(lambda x, y: x + y)(a, torch.ones(3, 3)))
attempt("mismatch1", lambda: vmap(lambda x, y: x + y, in_dims=(0, 1))(a, b))
attempt("indim range", lambda: vmap(lambda x: x, in_dims=2)(a))
attempt("indim neg", lambda: vmap(lambda x: x, in_dims=-1)(a))
attempt("indim neg range", lambda: vmap(lambda x: x, in_dims=-3)(a))
attempt("zero dim", lambda: vmap(lambda x: x)(torch.tensor(1.0)))
attempt("no args", lambda: vmap(lambda: 1)())
attempt("nontensor", lambda: vmap(lambda x: x)(3))
attempt("nontensor2", lambda: vmap(lambda x, y: x, in_dims=(0, 0))(a, 3))
attempt("in_dims bad type", lambda: vmap(lambda x: x, in_dims="a")(a))
attempt("in_dims structure", lambda: vmap(lambda x: x, in_dims=(0, 0))(a))
attempt("in_dims list", lambda: vmap(lambda x: x, in_dims=[0])(a))
attempt("in_dims float", lambda: vmap(lambda x: x, in_dims=(1.5,))(a))
attempt("ret nontensor", lambda: vmap(lambda x: 3)(a))
attempt("ret none", lambda: vmap(lambda x: None)(a))
attempt("ret str", lambda: vmap(lambda x: (x, "a"))(a))
attempt("ret tuple", lambda: vmap(lambda x: (x, [x, {"k": x}]))(a))
attempt("outdims tuple", lambda: vmap(lambda x: (x, x), out_dims=(0, 1))(a))
attempt("outdims bad", lambda: vmap(lambda x: (x, x), out_dims=(0, 1, 2))(a))
attempt("outdims bad2", lambda: vmap(lambda x: x, out_dims=(0, 1))(a))
attempt("outdims range", lambda: vmap(lambda x: x, out_dims=3)(a))
attempt("outdims neg", lambda: vmap(lambda x: x, out_dims=-1)(a).shape)
attempt("outdims neg range", lambda: vmap(lambda x: x, out_dims=-3)(a).shape)
attempt("outdims none batched", lambda: vmap(lambda x: x, out_dims=None)(a))
attempt("outdims none ok", lambda: vmap(lambda x: v, out_dims=None)(a))
attempt("outdims type", lambda: vmap(lambda x: x, out_dims="a")(a))
attempt("outdims float", lambda: vmap(lambda x: x, out_dims=0.5)(a))
attempt("outdims dict", lambda: vmap(lambda x: {"a": x, "b": x}, out_dims={"a": 0, "b": 1})(a))
attempt("unbatched out", lambda: vmap(lambda x: v)(a))
attempt("item", lambda: vmap(lambda x: x.sum().item())(a))
attempt("float", lambda: vmap(lambda x: float(x.sum()))(a))
attempt("int", lambda: vmap(lambda x: int(x.sum()))(a))
attempt("bool", lambda: vmap(lambda x: x if x.sum() > 0 else -x)(a))
attempt("tolist", lambda: vmap(lambda x: x.tolist())(a))
attempt("numpy", lambda: vmap(lambda x: x.numpy())(a))
attempt("nonzero", lambda: vmap(lambda x: x.nonzero())(a))
attempt("masked_select", lambda: vmap(lambda x: x.masked_select(x > 0))(a))
attempt("boolidx", lambda: vmap(lambda x: x[x > 0])(a))
attempt("boolidx assign", lambda: vmap(lambda x: x.clone().index_put_((x > 2,), torch.tensor(0.0)))(a))


def setit(x):
    x = x.clone()
    x[x > 2] = 0.0
    return x


attempt("boolidx setitem", lambda: vmap(setit)(a))


def setit(x):
    x = x.clone()
    x[x > 2] = x[0]
    return x


attempt("boolidx setitem batched", lambda: vmap(setit)(a))
attempt("unique", lambda: vmap(lambda x: x.unique())(a))
attempt("where1", lambda: vmap(lambda x: torch.where(x > 0))(a))
attempt("equal", lambda: vmap(lambda x: torch.equal(x, x))(a))
attempt("allclose", lambda: vmap(lambda x: torch.allclose(x, x))(a))
attempt("tensor([])", lambda: vmap(lambda x: torch.tensor([x[0], x[1]]))(a))
attempt("index", lambda: vmap(lambda x, i: [1, 2, 3][i])(a, torch.tensor([0, 1])))
attempt("x[i]", lambda: vmap(lambda x, i: x[i])(a, torch.tensor([0, 1])))
attempt("range", lambda: vmap(lambda x, i: x.sum() if range(i) else x.sum())(a, torch.tensor([0, 1])))
attempt("print", lambda: vmap(lambda x: print(x) or x)(a))
attempt("print2", lambda: vmap(vmap(lambda x: print(x) or x))(a))
attempt("print grad", lambda: grad(lambda x: (print(x), x.sum())[1])(v))
attempt("print jvp", lambda: jvp(lambda x: (print(x), x.sum())[1], (v,), (v,)))
attempt("print gradgrad", lambda: grad(lambda x: grad(lambda y: (print(y, x), (x * y).sum())[1])(x).sum())(v))
attempt("print vmapgrad", lambda: vmap(grad(lambda x: (print(x), x.sum())[1]))(a))
attempt("print ops grad", lambda: grad(lambda x: (print(x * 2, x.sum()), x.sum())[1])(v))
attempt(
    "repr shape",
    lambda: vmap(
        lambda x: (
            print(
                x.shape,
                x.ndim,
                x.dim(),
                x.size(),
                x.numel(),
                len(x),
                x.dtype,
                x.requires_grad,
                x.is_leaf,
                x.stride(),
                x.is_contiguous(),
            )
            or x
        )
    )(a),
)
attempt("requires_grad_ in vmap", lambda: vmap(lambda x: x.requires_grad_())(a))
attempt("requires_grad_ in grad", lambda: grad(lambda x: torch.ones(3).requires_grad_().sum() * x.sum())(v))
attempt("backward in vmap", lambda: vmap(lambda x: (x * x).sum().backward())(a.clone().requires_grad_()))
attempt("backward in grad", lambda: grad(lambda x: (x * x).sum().backward())(v))
attempt(
    "autograd.grad in vmap",
    lambda: vmap(lambda x: torch.autograd.grad((x * x).sum(), x)[0])(a.clone().requires_grad_()),
)
attempt("autograd.grad in grad", lambda: grad(lambda x: torch.autograd.grad((x * x).sum(), x)[0].sum())(v))

attempt("vmap chunk", lambda: vmap(lambda x: x * 2, chunk_size=2)(torch.arange(10.0).view(5, 2)))
attempt("vmap chunk0", lambda: vmap(lambda x: x * 2, chunk_size=0)(a))
attempt("vmap chunk outdims", lambda: vmap(lambda x: (x * 2, x.sum()), out_dims=(1, 0), chunk_size=1)(a))
attempt("vmap chunk none", lambda: vmap(lambda x: v, out_dims=None, chunk_size=1)(a))
attempt("vmap B0", lambda: vmap(lambda x: x * 2)(torch.zeros(0, 3)))
attempt("vmap B0 chunk", lambda: vmap(lambda x: x * 2, chunk_size=2)(torch.zeros(0, 3)))
attempt("vmap kwargs", lambda: vmap(lambda x, y=None: x * y)(a, y=b))
attempt("vmap kwargs mism", lambda: vmap(lambda x, y=None: x * y)(a, y=torch.ones(3, 3)))
attempt("vmap kwargs nontensor", lambda: vmap(lambda x, y=None: x * y)(a, y=2))
attempt("vmap nested indims", lambda: vmap(lambda d: d["a"] + d["b"], in_dims=({"a": 0, "b": None},))({"a": a, "b": v}))
attempt("vmap nested indims2", lambda: vmap(lambda p: p[0] + p[1], in_dims=((0, 1),))((a, b.t())))
attempt("vmap nested broadcast", lambda: vmap(lambda p, x: p[0] + p[1] + x, in_dims=(0, None))((a, b), v))
attempt("vmap nested broadcast2", lambda: vmap(lambda p, x: p[0] + p[1][0] + x, in_dims=((0, None), None))((a, [v]), v))
attempt("vmap indims list in tuple", lambda: vmap(lambda p: p[0] + p[1], in_dims=([0, 1],))([a, b.t()]))
attempt("vmap decorator-name", lambda: vmap(torch.sin).__name__)
attempt("vmap callable", lambda: vmap(torch.nn.Linear(3, 1))(a).shape)
attempt("grad name", lambda: grad(torch.sin).__name__)
attempt("vmap isinstance", lambda: vmap(lambda x: (type(x), isinstance(x, torch.Tensor)) and x)(a))
