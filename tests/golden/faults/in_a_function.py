import torch


def layer(x, w):
    return x @ w


def network(x):
    return layer(x, torch.ones(4, 4))


print(network(torch.ones(2, 4)).sum())
print(network(torch.ones(2, 3)).sum())
