import torch
import torch.nn.functional as F
from torch import nn, optim

torch.set_default_dtype(torch.float64)


def problem():
    torch.manual_seed(10)
    parameters = [torch.randn(3, 2), torch.randn(2), torch.tensor(0.7)]
    for parameter in parameters:
        parameter.requires_grad_()
    x, y = torch.randn(5, 3), torch.randn(5, 2)
    weight, bias, scale = parameters
    return parameters, lambda: (((x @ weight).tanh() * scale + bias - y) ** 2).mean() + 0.05 * (weight**2).sum()


def rosenbrock():
    p = torch.tensor([-1.5, 2.0], requires_grad=True)
    return [p], lambda: (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2


def trace(make, steps=6, **settings):
    parameters, loss = make()
    optimizer = optim.LBFGS(parameters, **settings)

    def closure():
        optimizer.zero_grad()
        value = loss()
        value.backward()
        return value

    for _ in range(steps):
        value = optimizer.step(closure).item()
        state = optimizer.state[parameters[0]]
        numbers = [number for parameter in parameters for number in parameter.reshape(-1).tolist()]
        print(state["n_iter"], state["func_evals"], f"{value:.6e}", " ".join(f"{number:.6e}" for number in numbers))


print(optim.LBFGS(problem()[0]))
trace(problem)
trace(problem, lr=0.3, history_size=2)
trace(problem, max_iter=3)
trace(problem, max_iter=4, history_size=3, line_search_fn="strong_wolfe")
trace(problem, lr=5.0, max_iter=7, steps=3, line_search_fn="strong_wolfe")
trace(rosenbrock, lr=1e-3, max_iter=10)
trace(rosenbrock, max_iter=5, line_search_fn="strong_wolfe")
trace(rosenbrock, lr=1e-3, max_eval=9, line_search_fn="strong_wolfe")
for settings in ({"lr": -1}, {"line_search_fn": "golden"}):
    try:
        trace(problem, **settings)
    except (ValueError, RuntimeError) as error:
        print(error)
try:
    optim.LBFGS([{"params": problem()[0]}, {"params": [torch.ones(1)]}])
except ValueError as error:
    print(error)
