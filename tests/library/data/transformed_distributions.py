"""torch.distributions: transforms, what they make of random numbers, counts of successes."""
import math
import torch
from torch.distributions import (
    AffineTransform, Binomial, ComposeTransform, ExpTransform, Gumbel, Independent, LogNormal, Multinomial, Normal,
    Pareto, SigmoidTransform, SoftplusTransform, StickBreakingTransform, TanhTransform, TransformedDistribution, Uniform,
    Weibull, kl_divergence,
)
from torch.distributions.transforms import (
    AbsTransform, IndependentTransform, LowerCholeskyTransform, PowerTransform, ReshapeTransform, SoftmaxTransform,
    identity_transform,
)

torch.set_default_dtype(torch.float64)
torch.manual_seed(0)
t = torch.tensor
for d in [
    Gumbel(1.0, 2.0), Gumbel(t([0.0, 1.0]), t([1.0, 0.5])), Weibull(2.0, 1.5), Weibull(t([1.0, 2.0]), t([0.5, 3.0])),
    Pareto(1.0, 3.0), Pareto(t([1.0, 2.0]), t([2.5, 4.0])), LogNormal(0.5, 0.25), LogNormal(t([0.0, 1.0]), t([1.0, 0.5])),
]:
    print(d, d.batch_shape, d.event_shape, d.mean, d.mode, d.variance, d.stddev, d.entropy(), d.support, d.has_rsample)
    s = d.rsample((3,))
    print(s, d.sample(), d.log_prob(s), d.cdf(s), d.icdf(d.cdf(s)))
    e = d.expand((2, 2))
    print(e.sample().shape, e.log_prob(s[0]).shape, e.batch_shape)
for d in [
    Binomial(5, t(0.3)), Binomial(40, t([0.1, 0.5, 0.9])), Binomial(t([3.0, 100.0]), logits=t([0.2, -1.0])),
    Binomial(1000, t([0.0, 1.0, 0.02])), Multinomial(7, t([0.2, 0.3, 0.5])), Multinomial(3, logits=torch.zeros(2, 4)),
]:
    s = d.sample((3,))
    print(d, d.batch_shape, d.event_shape, d.mean, d.variance, d.support, s, d.log_prob(s), d.probs, d.logits)
print(Binomial(3, t([0.5, 0.1])).entropy(), Binomial(3, t([0.5, 0.1])).enumerate_support(), Multinomial(4, t([0.5, 0.5])).entropy())
print(Binomial(10, t([0.5, 0.25])).mode, Binomial(4, t(0.5)).expand((2,)).sample(), Multinomial(2, t([0.5, 0.5])).expand((3,)).sample())
print(torch.binomial(torch.full((4, 5), 20.0), torch.linspace(0, 1, 5).expand(4, 5)))

maps = [
    ExpTransform(), PowerTransform(t(2.0)), SigmoidTransform(), SoftplusTransform(), TanhTransform(), AffineTransform(1.0, -2.0),
    AffineTransform(t([1.0, 2.0, 3.0]), t([1.0, 2.0, 3.0]), event_dim=1), StickBreakingTransform(), SoftmaxTransform(),
    ComposeTransform([AffineTransform(0.0, 2.0), ExpTransform()]), ReshapeTransform((3,), (1, 3)), AbsTransform(),
    IndependentTransform(ExpTransform(), 1), identity_transform,
]
x = t([[0.25, 0.5, 1.5], [0.1, 0.2, 0.3]])
for m in maps:
    y = m(x)
    print(m, m.bijective, m.domain, m.codomain, y, m.inv(y), m.forward_shape(x.shape), m.inverse_shape(y.shape))
    try:
        print(m.log_abs_det_jacobian(x, y), m.inv.log_abs_det_jacobian(y, x), m.inv, m.sign)
    except NotImplementedError:
        print("not implemented")
print(LowerCholeskyTransform()(torch.ones(2, 2)), ExpTransform() == ExpTransform(), AffineTransform(0, 1) == AffineTransform(0, 2))
print(PowerTransform(t(2.0)) == PowerTransform(t(2.0)), ExpTransform() == TanhTransform(), ExpTransform().inv.inv == ExpTransform())
kept = ExpTransform(cache_size=1)
z = kept(x)
print(kept.inv(z) is x, kept(x) is z, TanhTransform().with_cache(1)._cache_size)

base = Uniform(0.0, 1.0)
logistic = TransformedDistribution(base, [SigmoidTransform().inv, AffineTransform(loc=2.0, scale=0.5)])
print(logistic, logistic.support, logistic.sample((3,)), logistic.log_prob(t([0.0, 1.0])), logistic.cdf(t([2.0])), logistic.icdf(t([0.25])))
simplex = TransformedDistribution(Normal(torch.zeros(2, 3), torch.ones(3)), StickBreakingTransform())
s = simplex.sample()
print(simplex, simplex.batch_shape, simplex.event_shape, s, simplex.log_prob(s), simplex.support)
flow = TransformedDistribution(Independent(Normal(torch.zeros(2), torch.ones(2)), 1), [AffineTransform(t([1.0, 2.0]), t([2.0, 3.0])), TanhTransform()])
s = flow.rsample((2,))
print(s, flow.log_prob(s), flow.batch_shape, flow.event_shape, flow.expand((3,)).sample().shape)
loc = t(0.5, requires_grad=True)
scale = t(2.0, requires_grad=True)
for make in (Gumbel, LogNormal, lambda a, b: TransformedDistribution(Normal(a, b), [TanhTransform()])):
    d = make(loc, scale)
    (d.log_prob(t(0.3)) + d.rsample()).backward()
    print(loc.grad, scale.grad)
p = t(0.3, requires_grad=True)
Binomial(5, p).log_prob(t(2.0)).backward()
print(p.grad, kl_divergence(LogNormal(0.0, 1.0), LogNormal(1.0, 2.0)))
for wrong in (
    lambda: TransformedDistribution(base, 3), lambda: TransformedDistribution(base, [3]), lambda: Binomial(3), lambda: Gumbel(0.0, -1.0),
    lambda: Multinomial(t([1, 2]), t([0.5, 0.5])), lambda: Pareto(1.0, 2.0).log_prob(t(0.5)), lambda: Binomial(3, t(0.5)).log_prob(t(4.0)),
    lambda: ExpTransform(cache_size=2), lambda: AbsTransform().sign, lambda: ReshapeTransform((2,), (3,)),
    lambda: TransformedDistribution(Normal(0.0, 1.0), StickBreakingTransform()), lambda: torch.binomial(t(-1.0), t(0.5)), lambda: torch.binomial(t(1), t(0.5)),
):
    try:
        print(wrong())
    except Exception as error:
        print(type(error).__name__, error)
