"""torch.distributions: samples that PyTorch draws for the seed, densities, entropies, divergences, and their gradients."""
import torch
import torch.distributions as D
from torch.distributions import (
    Bernoulli, Categorical, Exponential, Geometric, Independent, Laplace, LogNormal, MultivariateNormal, Normal,
    OneHotCategorical, OneHotCategoricalStraightThrough, Poisson, Uniform, kl_divergence,
)

torch.manual_seed(0)
a, b = torch.tensor([0.5, -1.0], requires_grad=True), torch.tensor([1.0, 2.0], requires_grad=True)
p = torch.tensor([[0.2, 0.3, 0.5], [0.6, 0.2, 0.2]], requires_grad=True)
cov = torch.tensor([[2.0, 0.5], [0.5, 1.0]])
made = [
    Normal(a, b), Normal(0.0, 1.0), LogNormal(a, b), Categorical(p), Categorical(logits=p), Bernoulli(torch.tensor([0.3, 0.5])),
    Bernoulli(logits=a), Bernoulli(0.25), Uniform(a, a + b), Uniform(0, 2), Exponential(b), Laplace(a, b), Poisson(b),
    Geometric(torch.tensor([0.3, 1.0])), MultivariateNormal(a, cov), MultivariateNormal(a, precision_matrix=cov),
    MultivariateNormal(torch.zeros(3, 2), scale_tril=torch.linalg.cholesky(cov)), Independent(Normal(a, b), 1),
    OneHotCategorical(p), OneHotCategoricalStraightThrough(logits=p),
]
for d in made:
    print(d, d.batch_shape, d.event_shape)
    x = d.sample()
    many = d.sample((2, 3))
    print(x, many.shape, many.sum(), many.dtype)
    print(d.log_prob(x), d.log_prob(many).shape)
    for name in ("mean", "mode", "variance", "stddev"):
        try:
            print(name, getattr(d, name))
        except NotImplementedError as error:
            print(name, error)
    for name in ("entropy", "perplexity", "enumerate_support"):
        try:
            print(name, getattr(d, name)())
        except NotImplementedError as error:
            print(name, error)
    try:
        print(d.cdf(x), d.icdf(torch.tensor(0.25)))
    except NotImplementedError:
        print("no cdf")
    print(d.has_rsample, d.expand((4, 2) if d.batch_shape != (3,) else (4, 3)).sample().shape)
    if d.has_rsample:
        torch.manual_seed(1)
        print(d.rsample((2,)))
print(Normal(a, b).rsample().sum().backward(), a.grad, b.grad)
loss = -(Categorical(logits=p).log_prob(torch.tensor([2, 0])) * torch.tensor([1.0, -2.0])).sum()
loss.backward()
print(loss, p.grad)
for one, two in (
    (Normal(a, b), Normal(0.0, 1.0)), (Categorical(p), Categorical(logits=torch.zeros(3))), (Bernoulli(0.3), Bernoulli(0.6)),
    (Uniform(0.0, 1.0), Uniform(-1.0, 2.0)), (Uniform(0.0, 3.0), Uniform(-1.0, 2.0)), (Exponential(b), Exponential(2.0)),
    (Laplace(a, b), Laplace(0.0, 1.0)), (Poisson(b), Poisson(3.0)), (MultivariateNormal(a, cov), MultivariateNormal(torch.zeros(2), torch.eye(2))),
    (Independent(Normal(a, b), 1), Independent(Normal(torch.zeros(2), torch.ones(2)), 1)), (LogNormal(a, b), LogNormal(0.0, 1.0)),
    (OneHotCategorical(p), OneHotCategorical(torch.ones(3))), (Geometric(0.3), Geometric(0.5)),
):
    print(kl_divergence(one, two), D.kl.kl_divergence(two, one))
for attempt in (
    lambda: Normal(0.0, -1.0), lambda: Categorical(), lambda: Categorical(torch.tensor(0.5)), lambda: Categorical(torch.tensor([-1.0, 2.0])),
    lambda: Bernoulli(1.5), lambda: Normal(0.0, 1.0).log_prob(torch.tensor(float("nan"))), lambda: Categorical(p).log_prob(torch.tensor(7)),
    lambda: Normal(a, b).log_prob(torch.ones(3)), lambda: Normal(a, b).log_prob(1.0), lambda: Bernoulli(0.5).log_prob(torch.tensor(0.5)),
    lambda: Exponential(torch.tensor([0.0])), lambda: Normal("a", 1),
    lambda: Independent(Normal(0.0, 1.0), 1), lambda: MultivariateNormal(a), lambda: Normal(0.0, 1.0, validate_args=False).log_prob(3.0),
    lambda: Bernoulli(0.5).rsample(), lambda: MultivariateNormal(a, torch.tensor([[1.0, 2.0], [2.0, 1.0]])),
    lambda: D.Normal(torch.zeros(2), torch.tensor([1.0, 0.0])), lambda: Geometric(0.0),
):
    try:
        print(attempt())
    except Exception as error:
        print(type(error).__name__, error)
