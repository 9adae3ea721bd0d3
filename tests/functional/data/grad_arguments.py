import torch

torch.set_default_dtype(torch.float64)


def attempt(label, function):
    try:
        print(label, "->", function())
    except Exception as error:
        print(label, "!!", type(error).__name__, error)


x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
w = torch.tensor([0.5, -1.0, 2.0], requires_grad=True)
u = torch.tensor([1.0], requires_grad=True)
c = torch.ones(3)


def out():
    return (x**2 * w).sum()


grad = torch.autograd.grad
attempt("one", lambda: grad(out(), x))
attempt("several", lambda: grad(out(), [x, w]))
attempt("twice the same", lambda: grad(out(), [x, x]))
attempt("unused", lambda: grad(out(), [x, u]))
attempt("unused allowed", lambda: grad(out(), [x, u], allow_unused=True))
attempt("unused refused", lambda: grad(out(), [x, u], allow_unused=False))
attempt("materialized", lambda: grad(out(), [x, u], materialize_grads=True))
attempt("materialized, refused", lambda: grad(out(), [x, u], allow_unused=False, materialize_grads=True))
attempt("materialized, recorded", lambda: grad(out(), [x, u], materialize_grads=True, create_graph=True)[1].requires_grad)
attempt("constant input", lambda: grad(out(), c))
attempt("constant output", lambda: grad(c.sum(), x))
attempt("no inputs", lambda: grad(out(), []))
attempt("vector output", lambda: grad(x * 2, x))
attempt("weights", lambda: grad(x * 2, x, torch.tensor([1.0, 10.0, 100.0])))
attempt("weights of a wrong shape", lambda: grad(x * 2, x, torch.ones(2)))
attempt("weights of a wrong number", lambda: grad([x * 2, x.sum()], x, [torch.ones(3)]))
attempt("weights None", lambda: grad([x.sum(), (x * w).sum()], [x, w], [None, torch.tensor(3.0)]))
attempt("outputs of several shapes", lambda: grad([x * 2, x.sum()], [x], [torch.ones(3), torch.tensor(5.0)]))
attempt("the output itself", lambda: (lambda y: grad(y, y))(out()))
attempt("an intermediate", lambda: (lambda y: grad((y**2).sum(), [y, x]))(x * w))
attempt("an intermediate and its view", lambda: (lambda y: (lambda v: grad((v**2).sum(), [v, y]))(y[:2]))(x * w))
attempt("int output", lambda: grad(torch.tensor(1), x))
attempt("recorded", lambda: grad(out(), x, create_graph=True))
attempt("second", lambda: grad(grad(out(), x, create_graph=True)[0].sum(), [x, w]))
attempt("second, not recorded", lambda: grad(grad(out(), x)[0].sum(), x))
y = out()
attempt("first pass", lambda: grad(y, x))
attempt("second pass", lambda: grad(y, x))
y = out()
attempt("kept", lambda: (grad(y, x, retain_graph=True), grad(y, w)))
attempt("given up", lambda: grad(y, w))
y = out()
attempt("recorded, not kept", lambda: grad(y, x, create_graph=True, retain_graph=False)[0])
attempt("given up", lambda: grad(y, x))
y = x + w
attempt("nothing saved", lambda: (grad(y.sum(), x), grad(y.sum(), x)))
h = x * w
parts = [h.sum(), (h * h).sum()]
attempt("shared part", lambda: (grad(parts[0], x), grad(parts[1], w)))
print(x.grad, w.grad)

attempt("batched", lambda: grad(x**2, x, torch.eye(3), is_grads_batched=True))
attempt("batched, several", lambda: grad([x**2, w.sum()], [x, w], [torch.eye(3), torch.arange(3.0)], is_grads_batched=True))
attempt("batched, recorded", lambda: grad(grad(x**3, x, torch.eye(3), is_grads_batched=True, create_graph=True)[0].sum(), x))
attempt("batched, of a wrong shape", lambda: grad(x**2, x, torch.ones(2, 2), is_grads_batched=True))
attempt("batched, unused", lambda: grad(x**2, [x, w], torch.eye(3), is_grads_batched=True, allow_unused=True))
attempt("batched, materialized", lambda: grad(x**2, [x, u], torch.eye(3), is_grads_batched=True, materialize_grads=True))

# backward with inputs

y = (x * w).sum()
y.backward(inputs=[x], retain_graph=True)
print(x.grad, w.grad)
y.backward(inputs=w)
print(x.grad, w.grad)
attempt("backward with no inputs", lambda: out().backward(inputs=[]))
attempt("backward to an intermediate", lambda: (lambda h: ((h**2).sum().backward(inputs=[h]), h.grad))(x * 2))
x.grad = None
out().backward(create_graph=True)
print(x.grad)
x.grad.sum().backward()
print(x.grad)
x.grad = w.grad = None
torch.autograd.backward([x.sum(), (x * w).sum()], [None, torch.tensor(2.0)])
print(x.grad, w.grad)
attempt("two outputs without weights", lambda: torch.autograd.backward([x * 2, w]))
attempt("grad of a wrong shape", lambda: setattr(x, "grad", torch.ones(2)))
attempt("grad of a wrong type", lambda: setattr(x, "grad", torch.ones(3).float()))
attempt("grad that is no tensor", lambda: setattr(x, "grad", 3.0))
