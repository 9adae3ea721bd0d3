import torch

torch.set_default_dtype(torch.float64)


def attempt(label, function):
    try:
        print(label, "->", function())
    except Exception as error:
        print(label, "!!", type(error).__name__, error)


def fresh():
    return torch.tensor([1.0, 2.0, 3.0], requires_grad=True)


# order, replacing, removing

x = fresh()
y = x * 2
order = []
first = y.register_hook(lambda g: order.append(("first", g.tolist())))
second = y.register_hook(lambda g: g * 10)
third = y.register_hook(lambda g: order.append(("third", g.tolist())))
x.register_hook(lambda g: order.append(("leaf", g.tolist())))
(y * y).sum().backward(retain_graph=True)
print(order, x.grad)
second.remove()
order.clear()
x.grad = None
(y * y).sum().backward(retain_graph=True)
print(order, x.grad)
first.remove()
third.remove()
third.remove()
attempt("hook of a wrong shape", lambda: (y.register_hook(lambda g: g.sum()), y.sum().backward(retain_graph=True)))
z = fresh() * 1
z.register_hook(lambda g: "text")
attempt("hook of a wrong type", lambda: z.sum().backward())
attempt("hook on a constant", lambda: torch.ones(2).register_hook(lambda g: g))


# hooks and what is changed in place afterwards

x = fresh()
y = x * 1
y.register_hook(lambda g: print("before", g) or g * 2)
y.mul_(3)
y.register_hook(lambda g: print("after", g))
y.sum().backward()
print(x.grad)

x = fresh()
y = x * 1
y.retain_grad()
y.mul_(3)
y.sum().backward()
print(y.grad, x.grad, y.retains_grad)

x = fresh()
y = x * 1
v = y[:2]
v.retain_grad()
y.exp_()
(v * torch.tensor([1.0, 10.0])).sum().backward()
print(v.grad, x.grad)

x = fresh()
y = x * 1
y.retain_grad()
y[0].mul_(5)
y.sum().backward()
print(y.grad, x.grad)

x = fresh()
y = x * 2
y.retain_grad()
y.register_hook(lambda g: g * 100)
y.sum().backward()
print(y.grad, x.grad)

# hooks with a recorded pass

x = fresh()
y = x**2
y.register_hook(lambda g: g * x)
(g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
print(g)
print(torch.autograd.grad(g.sum(), x))
x = fresh()
x.register_hook(lambda g: g**2)
(g,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
print(g, torch.autograd.grad(g.sum(), x))

# after a leaf's gradient has been added

x = fresh()
log = []
handle = x.register_post_accumulate_grad_hook(lambda p: log.append(p.grad.clone()))
x.register_hook(lambda g: log.append(g.clone()))
(x * 2 + x.sin()).sum().backward()
print(log)
handle.remove()
log.clear()
(x * 2).sum().backward()
print(log, x.grad)
attempt("not a leaf", lambda: (x * 2).register_post_accumulate_grad_hook(lambda p: None))


def step(p):
    with torch.no_grad():
        p -= 0.1 * p.grad
    p.grad = None


x = fresh()
x.register_post_accumulate_grad_hook(step)
for _ in range(3):
    (x**2).sum().backward()
print(x, x.grad)
x = fresh()
w = torch.tensor([2.0], requires_grad=True)
x.register_post_accumulate_grad_hook(lambda p: print("x has", p.grad, "w has", w.grad))
w.register_post_accumulate_grad_hook(lambda p: print("w has", p.grad, "x has", x.grad))
((x * 2).sum() * w).sum().backward()
print(torch.autograd.grad((x * w).sum(), x), x.grad)

# hooks of nodes

x = fresh()
y = x.sin()
z = (y * 2).sum()
y.grad_fn.register_prehook(lambda grads: print("pre", grads) or (grads[0] * 3,))
y.grad_fn.register_hook(lambda ins, outs: print("post", ins, outs))
z.backward(inputs=[x])
print(x.grad)
