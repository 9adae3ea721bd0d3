import torch
import torch.nn.functional as F
from torch import nn, optim

torch.set_default_dtype(torch.float64)


def problem():
    torch.manual_seed(9)
    parameters = [torch.randn(3, 2), torch.randn(2), torch.tensor(0.7)]
    for parameter in parameters:
        parameter.requires_grad_()
    x, y = torch.randn(5, 3), torch.randn(5, 2)
    weight, bias, scale = parameters
    return parameters, lambda: (((x @ weight).tanh() * scale + bias - y) ** 2).mean()


def trace(kind, **settings):
    """The optimiser, and where 20 steps take the parameters."""
    parameters, loss = problem()
    optimizer = kind(parameters, **settings)
    print(optimizer)
    for step in range(20):
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()
        if step in (0, 1, 5, 19):
            print(
                step,
                " ".join(f"{number:.13e}" for parameter in parameters for number in parameter.reshape(-1).tolist()),
            )
    state = optimizer.state_dict()
    for number, kept in state["state"].items():
        print(
            number,
            list(kept),
            [f"{value.sum().item():.10e}" for value in kept.values() if isinstance(value, torch.Tensor)],
        )
    copy, _ = problem()
    other = kind(copy, **settings)
    other.load_state_dict(state)
    print(str(other.state_dict()) == str(state), state["param_groups"])


trace(optim.SGD, lr=0.1)
trace(optim.SGD, lr=0.1, momentum=0.9)
trace(optim.SGD, lr=0.1, momentum=0.9, dampening=0.3, weight_decay=0.01)
trace(optim.SGD, lr=0.1, momentum=0.9, nesterov=True)
trace(optim.SGD, lr=0.01, maximize=True, weight_decay=0.1)
trace(optim.SGD, lr=torch.tensor(0.1))
for kind in (optim.Adam, optim.AdamW):
    trace(kind, lr=0.05)
    trace(kind, lr=0.05, betas=(0.8, 0.95), eps=1e-6, weight_decay=0.1)
    trace(kind, lr=0.05, amsgrad=True, maximize=True)
trace(optim.Adam, lr=0.05, weight_decay=0.1, decoupled_weight_decay=True)
trace(optim.NAdam, lr=0.05)
trace(optim.NAdam, lr=0.05, weight_decay=0.1, momentum_decay=0.01)
trace(optim.NAdam, lr=0.05, weight_decay=0.1, decoupled_weight_decay=True)
trace(optim.RAdam, lr=0.05)
trace(optim.RAdam, lr=0.05, weight_decay=0.1, decoupled_weight_decay=True)
trace(optim.Adamax, lr=0.05, weight_decay=0.1)
trace(optim.Adagrad, lr=0.1)
trace(optim.Adagrad, lr=0.1, lr_decay=0.1, weight_decay=0.1, initial_accumulator_value=0.5)
trace(optim.Adadelta)
trace(optim.Adadelta, lr=0.5, rho=0.8, eps=1e-5, weight_decay=0.1)
trace(optim.RMSprop)
trace(optim.RMSprop, lr=0.01, momentum=0.9)
trace(optim.RMSprop, lr=0.01, alpha=0.9, momentum=0.5, centered=True, weight_decay=0.1)
trace(optim.Rprop)
trace(optim.Rprop, lr=0.05, etas=(0.4, 1.3), step_sizes=(1e-4, 1.0))
trace(optim.ASGD, lr=0.1)
trace(optim.ASGD, lr=0.1, t0=3, weight_decay=0.1, lambd=0.01)
parameters, loss = problem()
optimizer = optim.SGD([{"params": parameters[:1]}, {"params": parameters[1:], "lr": 0.01, "momentum": 0.5}], lr=0.1)
optimizer.add_param_group({"params": [torch.ones(1, requires_grad=True)], "weight_decay": 0.1})
print(optimizer, len(optimizer.param_groups))


def closure():
    optimizer.zero_grad()
    value = loss()
    value.backward()
    return value


print([f"{optimizer.step(closure).item():.13e}" for _ in range(3)])
optimizer.zero_grad(set_to_none=False)
print(parameters[1].grad)
optimizer.zero_grad()
print(parameters[1].grad, optimizer.step())
hook = optimizer.register_step_post_hook(
    lambda optimizer, args, kwargs: print("after the step", type(optimizer).__name__)
)
optimizer.step()
hook.remove()
optimizer.step()
print(optim.SGD([("weight", parameters[0]), ("bias", parameters[1])], lr=0.1).param_groups[0]["param_names"])


class Signs(optim.Optimizer):
    def __init__(self, params, lr=0.1):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    self.state[p]["count"] = self.state[p].get("count", 0) + 1
                    p.add_(p.grad.sign(), alpha=-group["lr"])


p = torch.tensor([1.0, -2.0], requires_grad=True)
mine = Signs([p], lr=0.5)
for _ in range(3):
    mine.zero_grad()
    (p**2).sum().backward()
    mine.step()
print(mine, p, mine.state[p], mine.state_dict())
