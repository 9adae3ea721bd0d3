# The graph is what was computed: a branch and a loop that depend on the data.
import torch


def double_until_large(x):
    y = x * 2
    doublings = 1
    while y.norm() < 1000:
        y = y * 2
        doublings += 1
    if y.sum() > 0:
        return y, doublings
    return -y, doublings


x = torch.tensor([1.0, 2.0, -0.5], requires_grad=True)
y, doublings = double_until_large(x)
print(y)
y.backward(torch.tensor([1.0, 1.0, 1.0]))
print(f"{doublings} doublings: {x.grad}")

x = torch.tensor([-300.0, 20.0, 1.5], requires_grad=True)
y, doublings = double_until_large(x)
print(y)
y.backward(torch.tensor([1.0, 0.1, 0.01]))
print(f"{doublings} doublings: {x.grad}")
