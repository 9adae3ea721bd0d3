import warnings

import torch
from torch import optim
from torch.optim import lr_scheduler

warnings.simplefilter("ignore")
torch.set_default_dtype(torch.float64)


def parameters():
    return [torch.ones(2, requires_grad=True), torch.ones(1, requires_grad=True)]


def attempt(function):
    try:
        return function()
    except Exception as error:
        print(type(error).__name__, error)


def trace(kind, *args, optimizer=optim.SGD, options={"lr": 0.1, "momentum": 0.9}, steps=14, **settings):
    """The rates of two groups as a schedule moves them, and the momentum where it moves that too."""
    first, second = parameters()
    groups = [{"params": [first]}, {"params": [second], "lr": 0.03}]
    opt = optimizer(groups, **options)
    scheduler = attempt(lambda: kind(opt, *args, **settings))
    if scheduler is None:
        return
    print(kind.__name__, len(args), settings)
    for _ in range(steps):
        opt.step()
        scheduler.step()
        last = opt.param_groups[-1]
        momentum = last.get("momentum", last.get("betas"))
        print([f"{rate:.13e}" for rate in scheduler.get_last_lr()], momentum)
    state = scheduler.state_dict()
    print({name: value for name, value in state.items() if name not in ("_last_lr", "_scale_fn_ref")})
    scheduler.load_state_dict(state)
    print(scheduler.last_epoch)


trace(lr_scheduler.StepLR, 3)
trace(lr_scheduler.StepLR, step_size=2, gamma=0.5)
trace(lr_scheduler.MultiStepLR, [2, 5, 5, 9], 0.3)
trace(lr_scheduler.ExponentialLR, 0.9)
trace(lr_scheduler.ConstantLR)
trace(lr_scheduler.ConstantLR, 0.5, 4)
trace(lr_scheduler.ConstantLR, 2.0)
trace(lr_scheduler.LinearLR)
trace(lr_scheduler.LinearLR, 0.2, 0.7, 6)
trace(lr_scheduler.LinearLR, 0)
trace(lr_scheduler.LinearLR, 0.5, 1.5)
trace(lr_scheduler.PolynomialLR, 6, 2.0)
trace(lr_scheduler.CosineAnnealingLR, 5)
trace(lr_scheduler.CosineAnnealingLR, T_max=4, eta_min=0.01)
trace(lr_scheduler.CosineAnnealingWarmRestarts, 4)
trace(lr_scheduler.CosineAnnealingWarmRestarts, 3, 2, 0.001)
trace(lr_scheduler.CosineAnnealingWarmRestarts, 0)
trace(lr_scheduler.CosineAnnealingWarmRestarts, 3, 1.5)
trace(lr_scheduler.OneCycleLR, 0.5, 14)
trace(lr_scheduler.OneCycleLR, [0.5, 0.2], 20, three_phase=True, anneal_strategy="linear")
trace(lr_scheduler.OneCycleLR, 0.5, epochs=5, steps_per_epoch=6, optimizer=optim.Adam, options={"lr": 0.1})
trace(lr_scheduler.OneCycleLR, 0.5)
trace(lr_scheduler.OneCycleLR, 0.5, 30, pct_start=2)
trace(lr_scheduler.OneCycleLR, [0.5], 30)
trace(lr_scheduler.OneCycleLR, 0.5, 30, anneal_strategy="steps")
trace(lr_scheduler.CyclicLR, 0.01, 0.1, 4)
trace(lr_scheduler.CyclicLR, 0.01, 0.1, 4, 3, mode="triangular2")
trace(lr_scheduler.CyclicLR, 0.01, 0.1, 4, mode="exp_range", gamma=0.9)
trace(lr_scheduler.CyclicLR, 0.01, 0.1, 4, cycle_momentum=False, optimizer=optim.Adagrad, options={"lr": 0.1})
trace(lr_scheduler.CyclicLR, 0.01, 0.1, 4, optimizer=optim.Adagrad, options={"lr": 0.1})
trace(lr_scheduler.CyclicLR, 0.01, 0.1, 4, mode="square")
trace(lr_scheduler.LambdaLR, lambda epoch: 0.95**epoch, steps=3)
trace(lr_scheduler.LambdaLR, [lambda epoch: 0.95**epoch], steps=3)
trace(lr_scheduler.MultiplicativeLR, lambda epoch: 0.9, steps=3)
trace(lr_scheduler.MultiplicativeLR, 0.9)

metrics = [3.0, 2.0, 2.0, 2.0, 2.0, 1.0, 1.5, 1.5, 1.5, 1.5]
for settings in (
    {"patience": 1},
    {"patience": 1, "factor": 0.5, "cooldown": 2, "min_lr": [0.04, 0.01]},
    {"mode": "max", "patience": 0, "threshold": 0.5, "threshold_mode": "abs"},
    {"mode": "least"},
    {"factor": 1.0},
    {"min_lr": [0.1]},
):
    first, second = parameters()
    opt = optim.SGD([{"params": [first]}, {"params": [second], "lr": 0.03}], lr=0.1)
    plateau = attempt(lambda: lr_scheduler.ReduceLROnPlateau(opt, **settings))
    if plateau is not None:
        for metric in metrics:
            plateau.step(metric)
            print(plateau.get_last_lr(), plateau.num_bad_epochs, plateau.best, plateau.in_cooldown)
        print(plateau.state_dict())

opt = optim.SGD(parameters(), lr=0.1)
constant, exponential = (
    lr_scheduler.ConstantLR(opt, factor=0.1, total_iters=4),
    lr_scheduler.ExponentialLR(opt, gamma=0.9),
)
sequence = lr_scheduler.SequentialLR(opt, [constant, exponential], milestones=[3])
print(opt.param_groups[0]["lr"])
for _ in range(6):
    opt.step()
    sequence.step()
    print(f"{sequence.get_last_lr()[0]:.13e}")
print(list(sequence.state_dict()))
opt = optim.SGD(parameters(), lr=0.1)
chain = lr_scheduler.ChainedScheduler([lr_scheduler.ConstantLR(opt, 0.1, 4), lr_scheduler.ExponentialLR(opt, 0.9)])
for _ in range(6):
    opt.step()
    chain.step()
    print(f"{chain.get_last_lr()[0]:.13e}")
attempt(lambda: lr_scheduler.SequentialLR(opt, [], []))
attempt(lambda: lr_scheduler.SequentialLR(opt, [exponential], []))
attempt(lambda: lr_scheduler.SequentialLR(opt, [lr_scheduler.StepLR(opt, 1)], [3]))
attempt(lambda: lr_scheduler.ChainedScheduler([]))
attempt(lambda: lr_scheduler.StepLR(3, 1))
attempt(lambda: lr_scheduler.StepLR(optim.SGD(parameters(), lr=0.1), 1, last_epoch=3))

opt = optim.SGD(parameters(), lr=0.1)
step = lr_scheduler.StepLR(opt, 2)
for epoch in (3, 7, 1):
    step.step(epoch)
    print(f"{step.get_last_lr()[0]:.13e}")


class Halving(lr_scheduler.LRScheduler):
    def get_lr(self):
        return [base * 0.5**self.last_epoch for base in self.base_lrs]


opt = optim.SGD(parameters(), lr=0.1)
halving = Halving(opt)
opt.step()
halving.step()
print(halving.get_last_lr(), opt.param_groups[0]["initial_lr"], type(step))
