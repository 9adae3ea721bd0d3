import torch
from torch.func import grad, vjp

torch.set_default_dtype(torch.float64)
z = torch.tensor([1.0, 2.0], requires_grad=True)
y = z * 2
value, pull = vjp(lambda x: x**2, y)
value.sum().backward(retain_graph=True)
print(z.grad)
value.sum().backward(retain_graph=True)
print(z.grad)
print(pull(torch.ones(2)))
w = torch.tensor([1.0, 2.0], requires_grad=True)
value, pull = vjp(lambda x: torch.exp(x * w) * w, torch.ones(2))
value.sum().backward()
print(w.grad)
a = pull(torch.ones(2))[0]
print(a)
print(vjp(lambda x: (x * w).exp(), torch.ones(2))[0].requires_grad)
x = torch.tensor([0.5, 1.0])
print(grad(lambda c: (vjp(torch.sin, x)[1](c)[0] * x).sum())(x))
print(grad(lambda c: (vjp(torch.sin, c)[1](c)[0] * w).sum())(x))
print(grad(grad(lambda c: vjp(torch.sin, c)[1](c)[0]))(torch.tensor(0.5)))
