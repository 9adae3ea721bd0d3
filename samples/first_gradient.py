# A function of two variables, and its derivatives by both.
import torch

x = torch.tensor(2.0, requires_grad=True)
y = torch.tensor(3.0, requires_grad=True)
z = x * y + y**2

z.backward()
print(f"dz/dx = {x.grad}")
print(f"dz/dy = {y.grad}")
