"""torch.nn.utils.parametrize: weights that are computed, assigned, and made parameters again."""
import copy
import torch
import torch.nn as nn
import torch.nn.utils.parametrize as parametrize
from torch.nn.utils import parametrizations

torch.set_default_dtype(torch.float64)
torch.manual_seed(0)


class Symmetric(nn.Module):
    def forward(self, X):
        return X.triu() + X.triu(1).transpose(-1, -2)

    def right_inverse(self, A):
        return A.triu()


class Scaled(nn.Module):
    def __init__(self, by):
        super().__init__()
        self.by = by

    def forward(self, X):
        return X * self.by


layer = nn.Linear(3, 3)
parametrize.register_parametrization(layer, "weight", Symmetric())
print(layer, torch.equal(layer.weight, layer.weight.T), parametrize.is_parametrized(layer), parametrize.is_parametrized(layer, "bias"))
print([name for name, _ in layer.named_parameters()], list(layer.state_dict()), isinstance(layer, nn.Linear), type(layer))
print(parametrize.type_before_parametrizations(layer))
layer.weight = torch.arange(9.0).reshape(3, 3)
print(layer.weight, layer.parametrizations.weight.original, layer.parametrizations["weight"][0])
layer(torch.ones(2, 3)).sum().backward()
print(layer.parametrizations.weight.original.grad, layer.bias.grad)
parametrize.register_parametrization(layer, "weight", Scaled(2.0))
print(layer.weight, len(layer.parametrizations.weight))
with parametrize.cached():
    print(layer.weight is layer.weight)
print(layer.weight is layer.weight)
twin = copy.deepcopy(layer)
print(torch.equal(twin.weight, layer.weight), twin.parametrizations.weight.original is layer.parametrizations.weight.original)
optimiser = torch.optim.SGD(layer.parameters(), lr=0.1)
for _ in range(2):
    optimiser.zero_grad()
    layer(torch.ones(1, 3)).pow(2).sum().backward()
    optimiser.step()
print(layer.weight, twin.weight)
try:
    layer.weight = torch.zeros(3, 3)
except RuntimeError as error:
    print(error)
parametrize.remove_parametrizations(layer, "weight")
print(layer, layer.weight, type(layer), parametrize.is_parametrized(layer))
plain = nn.Linear(2, 2)
parametrize.register_parametrization(plain, "weight", Scaled(3.0))
parametrize.register_parametrization(plain, "bias", Scaled(0.5))
parametrize.remove_parametrizations(plain, "weight", leave_parametrized=False)
print(plain, plain.weight, plain.bias)
for make in (
    lambda: parametrize.register_parametrization(nn.Linear(2, 2), "gain", Scaled(1.0)),
    lambda: parametrize.register_parametrization(nn.Linear(2, 3), "weight", nn.Flatten(0)),
    lambda: parametrize.remove_parametrizations(nn.Linear(2, 2), "weight"),
    lambda: parametrizations.orthogonal(nn.Linear(2, 2), "bias"),
    lambda: parametrizations.orthogonal(nn.Linear(2, 2), orthogonal_map="other"),
    lambda: parametrizations.spectral_norm(nn.Linear(2, 2), n_power_iterations=0),
):
    try:
        make()
    except ValueError as error:
        print(error)

for make in (
    lambda: parametrizations.weight_norm(nn.Linear(3, 2)),
    lambda: parametrizations.weight_norm(nn.Linear(3, 2), dim=None),
    lambda: parametrizations.spectral_norm(nn.Linear(3, 2)),
    lambda: parametrizations.spectral_norm(nn.Conv2d(2, 3, 2), n_power_iterations=2),
    lambda: parametrizations.orthogonal(nn.Linear(3, 3)),
    lambda: parametrizations.orthogonal(nn.Linear(3, 2)),
    lambda: parametrizations.orthogonal(nn.Linear(2, 4)),
    lambda: parametrizations.orthogonal(nn.Linear(3, 3), orthogonal_map="cayley"),
    lambda: parametrizations.orthogonal(nn.Linear(3, 3), orthogonal_map="householder", use_trivialization=False),
    lambda: parametrizations.orthogonal(nn.Linear(3, 3), orthogonal_map="cayley", use_trivialization=False),
):
    module = make()
    print(module, [(name, tuple(p.shape)) for name, p in module.named_parameters()], list(module.state_dict()))
    print(module.weight.detach())
    x = torch.linspace(-1, 1, 18).reshape(1, 2, 3, 3) if isinstance(module, nn.Conv2d) else torch.linspace(-1, 1, module.in_features)
    module(x).pow(2).sum().backward()
    print([p.grad for p in module.parameters()])
    module.eval()
    print(module(x))
module = parametrizations.weight_norm(nn.Linear(2, 2))
module.weight = torch.tensor([[3.0, 4.0], [0.0, 1.0]])
print(module.weight.detach(), module.parametrizations.weight.original0, module.parametrizations.weight.original1)
other = parametrizations.weight_norm(nn.Linear(2, 2))
print(other.load_state_dict(module.state_dict()), torch.equal(other.weight, module.weight))
print(parametrize.remove_parametrizations(module, "weight"), module.weight)
