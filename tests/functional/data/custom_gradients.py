import torch

torch.set_default_dtype(torch.float64)


def attempt(label, function):
    try:
        print(label, "->", function())
    except Exception as error:
        print(label, "!!", type(error).__name__, error)


from torch.autograd import Function
from torch.autograd.function import once_differentiable

x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
w = torch.tensor([2.0, 0.5, -1.0], requires_grad=True)
c = torch.ones(3)


class Product(Function):
    @staticmethod
    def forward(ctx, a, b, scale=1.0):
        ctx.save_for_backward(a, b)
        ctx.scale = scale
        return a * b * scale

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        print("needs", ctx.needs_input_grad)
        return g * b * ctx.scale, g * a * ctx.scale if ctx.needs_input_grad[1] else None, None


grad = torch.autograd.grad
attempt("both", lambda: grad(Product.apply(x, w, 3.0).sum(), [x, w]))
attempt("one", lambda: grad(Product.apply(x, c).sum(), x))
attempt("twice", lambda: grad(grad(Product.apply(x, w).sum(), x, create_graph=True)[0].pow(2).sum(), [x, w], allow_unused=True))
attempt("by itself", lambda: grad(grad(Product.apply(x, x).sum(), x, create_graph=True)[0].pow(2).sum(), x))
attempt("constants", lambda: Product.apply(c, c).requires_grad)
attempt("name", lambda: Product.apply(x, w).grad_fn.name())
attempt("second pass", lambda: (lambda y: (grad(y, x), grad(y, x)))(Product.apply(x, w).sum()))


class Twice(Function):
    @staticmethod
    def forward(ctx, a):
        ctx.mark_dirty(a)
        return a.mul_(2)

    @staticmethod
    def backward(ctx, g):
        return g * 2


def changed(view):
    a = x * 1
    b = a[:2] if view else a
    d = Twice.apply(b)
    return d is b, grad((a * w).sum(), x)


attempt("dirty", lambda: changed(False))
attempt("dirty view", lambda: changed(True))
attempt("dirty leaf", lambda: Twice.apply(x))
attempt("dirty version", lambda: (lambda a: (Twice.apply(a), a._version)[1])(x * 1))


class Largest(Function):
    @staticmethod
    def forward(ctx, a):
        value, index = a.max(0)
        ctx.mark_non_differentiable(index)
        ctx.index, ctx.count = index, a.numel()
        ctx.set_materialize_grads(False)
        return value, index, a * 2

    @staticmethod
    def backward(ctx, gv, gi, g2):
        print("got", gv, gi, g2)
        out = torch.zeros(ctx.count)
        if gv is not None:
            out[ctx.index] = gv
        return out if g2 is None else out + 2 * g2


attempt("first output", lambda: grad(Largest.apply(x)[0], x))
attempt("third output", lambda: grad(Largest.apply(x)[2].sum(), x))
attempt("index", lambda: [o.requires_grad for o in Largest.apply(x)])


class Materialized(Function):
    @staticmethod
    def forward(ctx, a):
        return a.sin(), a.cos()

    @staticmethod
    def backward(ctx, gs, gc):
        print("got", gs, gc)
        return gs + gc


attempt("zeros", lambda: grad(Materialized.apply(x)[1].sum(), x))


class Once(Function):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return a**2

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (a,) = ctx.saved_tensors
        return 2 * a * g


attempt("once", lambda: grad(Once.apply(x).sum(), x))
attempt("once, recorded", lambda: grad(Once.apply(x).sum(), x, create_graph=True))
attempt("once, twice", lambda: grad(grad(Once.apply(x).sum(), x, create_graph=True)[0].sum(), x))


class Context(Function):
    @staticmethod
    def forward(a, k):
        return a**k, a + k

    @staticmethod
    def setup_context(ctx, inputs, output):
        a, ctx.k = inputs
        ctx.save_for_backward(a, output[0])
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx, g, h):
        a, out = ctx.saved_tensors
        total = 0
        if g is not None:
            total = total + g * ctx.k * a ** (ctx.k - 1)
        if h is not None:
            total = total + h
        return total, None


attempt("context", lambda: grad(Context.apply(x, 3)[0].sum(), x))
attempt("context, second", lambda: grad(sum(o.sum() for o in Context.apply(x, 3)), x))
attempt("context, twice", lambda: grad(grad(Context.apply(x, 3)[0].sum(), x, create_graph=True)[0].sum(), x))
attempt("gradcheck", lambda: torch.autograd.gradcheck(lambda a: Context.apply(a, 3), (x,), check_undefined_grad=False))
attempt("gradgradcheck", lambda: torch.autograd.gradgradcheck(lambda a: Context.apply(a, 3)[0], (x,)))


class Wrong(Function):
    @staticmethod
    def forward(ctx, a, kind):
        ctx.kind = kind
        return a * 2

    @staticmethod
    def backward(ctx, g):
        return {"shape": (g.sum().reshape(1, 1).expand(2, 2), None), "count": g, "more": (g, None, None), "extra": (g, g, g),
                "none": (None, None), "type": ("g", None), "constant": (g, g), "expand": (g.sum(), None)}[ctx.kind]


for kind in ("shape", "count", "more", "extra", "none", "type", "constant", "expand"):
    attempt(kind, lambda: grad(Wrong.apply(x, kind).sum(), x, allow_unused=True))


class Slope(Function):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return a.exp()

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0] * 7


class Bare(Function):
    @staticmethod
    def forward(ctx, a):
        return a * 2


class Nothing(Function):
    pass


class Same(Function):
    @staticmethod
    def forward(ctx, a):
        return a

    @staticmethod
    def backward(ctx, g):
        return -g


attempt("no backward", lambda: grad(Bare.apply(x).sum(), x))
attempt("no forward", lambda: Nothing.apply(x))
attempt("identity", lambda: (lambda y: (y is x, y.grad_fn is None, grad((y * w).sum(), x)))(Same.apply(x)))
attempt("a wrong slope", lambda: torch.autograd.gradcheck(Slope.apply, (torch.tensor([1.0], requires_grad=True),), raise_exception=False))
attempt("changed after it was saved", lambda: (lambda a: (lambda y: (a.mul_(2), grad(y.sum(), x)))(Slope.apply(a)))(x * 1))
attempt("an instance", lambda: Product()(x, w))
