"""Operators and functions between numpy's values and tensors."""
import numpy as np
import torch

OPERATORS = {
    "+": lambda x, y: x + y, "-": lambda x, y: x - y, "*": lambda x, y: x * y, "/": lambda x, y: x / y,
    "//": lambda x, y: x // y, "%": lambda x, y: x % y, "**": lambda x, y: x ** y, "@": lambda x, y: x @ y,
    "==": lambda x, y: x == y,
}
tensors = {
    "single": torch.tensor([1.0, 2.0]), "double": torch.tensor([1.0, 2.0], dtype=torch.float64),
    "whole": torch.tensor([1, 2]), "leaf": torch.tensor([1.0, 2.0], requires_grad=True), "number": torch.tensor(3.0),
}
arrays = {
    "f8[2]": np.array([1.0, 2.0]), "f4[2]": np.array([1.0, 2.0], dtype=np.float32), "i8[2]": np.array([1, 2]),
    "f8": np.float64(2.5), "f4": np.float32(2.5), "i8": np.int64(3), "i4": np.int32(3), "bool": np.bool_(True),
}


def show(label, compute):
    try:
        value = compute()
    except Exception as error:
        print(label, "!!", type(error).__name__, str(error)[:70])
    else:
        print(label, type(value).__name__, value)


for left, tensor in tensors.items():
    for right, array in arrays.items():
        for symbol, compute in OPERATORS.items():
            show(f"{left} {symbol} {right}", lambda: compute(tensor, array))
            if symbol != "@":
                show(f"{right} {symbol} {left}", lambda: compute(array, tensor))

t = tensors["single"]
s, g, a, i = tensors["number"], tensors["leaf"], arrays["f8[2]"], arrays["i8[2]"]
show("sin", lambda: np.sin(t))
show("sin of a leaf", lambda: np.sin(g))
show("add", lambda: np.add(t, a))
show("array of tensors", lambda: np.array([t, t]))
show("array of numbers", lambda: np.array([s, s]))
show("stack", lambda: np.stack([t, t]))
show("dot", lambda: np.dot(t, t))
show("matmul", lambda: np.matmul(t, t))
show("sqrt", lambda: np.sqrt(tensors["whole"]))
show("isnan", lambda: np.isnan(t))
show("where", lambda: np.where(t > 1, t, 0))
show("concatenate", lambda: np.concatenate([t, t]))
show("reshape", lambda: np.reshape(t, (2, 1)))
show("argmax", lambda: np.argmax(t))
show("norm", lambda: np.linalg.norm(t))
show("index by array", lambda: t[i - 1])
show("index by tensor", lambda: a[tensors["whole"] - 1])
show("mask", lambda: a[t > 1])
show("tensor of f8", lambda: torch.tensor(np.float64(2.5)))
show("tensor of f4", lambda: torch.tensor(np.float32(2.5)))
show("tensor of list", lambda: torch.tensor([np.float64(2.5), 1]))
show("tensor of arrays", lambda: torch.tensor([a, a]))
show("Tensor", lambda: torch.Tensor(i))
show("LongTensor", lambda: torch.LongTensor(i))
show("full", lambda: torch.full((2,), np.float64(3)))
show("zeros", lambda: torch.zeros(np.int64(2), np.int64(1)))
show("arange", lambda: torch.arange(np.int64(2), np.int64(5)))
show("sum over", lambda: t.sum(np.int64(0)))
show("clamp", lambda: t.clamp(min=np.float32(1.5)))
show("exp of array", lambda: torch.exp(a))
show("text", lambda: torch.from_numpy(np.array(["a"])))
show("list", lambda: torch.from_numpy([1]))
show("backwards", lambda: torch.from_numpy(a[::-1]))
show("numpy of a leaf", lambda: g.numpy())
show("numpy of a number", lambda: s.numpy())
show("prod of a shape", lambda: torch.zeros(np.prod((2, 3))).shape)
show("mean of numbers", lambda: np.mean([torch.tensor(0.5).item(), 1.5]))
show("a torch type", lambda: np.zeros(2, dtype=torch.float32))
changed = torch.tensor([1.0, 2.0])
changed += a
show("+=", lambda: changed)

shared = np.ones(3)
tensor = torch.from_numpy(shared)
tensor.add_(1)
shared[0] = 7
print(shared, tensor, tensor.numpy()[0])
