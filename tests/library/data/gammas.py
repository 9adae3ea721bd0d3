import torch
from torch.distributions import Gamma, Beta, Dirichlet, Chi2, StudentT, Cauchy, HalfNormal, MixtureSameFamily, Categorical, Normal, Independent, kl_divergence
torch.set_default_dtype(torch.float64)
torch.manual_seed(0)
for g in [Gamma(2.0, 3.0), Gamma(torch.tensor([0.5, 1.0, 7.0]), 1.0), Beta(0.5, 0.5), Beta(torch.tensor([1., 3.]), torch.tensor([2., 2.])), Dirichlet(torch.tensor([0.5, 1.0, 3.0])), Dirichlet(torch.ones(2, 2)), Chi2(torch.tensor([1.0, 4.0])), StudentT(torch.tensor([1.5, 4.0]), 1.0, 2.0), StudentT(3.0), Cauchy(0., 1.), HalfNormal(torch.tensor([1., 2.]))]:
    print(g, g.batch_shape, g.event_shape, g.mean, g.variance, g.mode if not isinstance(g, Dirichlet) else "")
    s = g.sample(); print(s, g.sample((2,)), g.log_prob(s)); print(g.entropy(), g.support, g.has_rsample)
print(Gamma(torch.tensor([2.]), torch.tensor([1.])).cdf(torch.tensor([1.])), Cauchy(0., 1.).cdf(torch.tensor(0.5)), Cauchy(0., 1.).icdf(torch.tensor(0.75)), HalfNormal(1.).cdf(torch.tensor(1.)), HalfNormal(1.).icdf(torch.tensor(0.5)))
mix = MixtureSameFamily(Categorical(torch.tensor([0.3, 0.7])), Normal(torch.tensor([-1., 2.]), torch.tensor([0.5, 1.])))
print(mix, mix.mean, mix.variance, mix.sample((4,)), mix.log_prob(torch.tensor([0., 1.])), mix.cdf(torch.tensor(0.)))
gmm = MixtureSameFamily(Categorical(torch.ones(3)), Independent(Normal(torch.randn(3, 2), torch.rand(3, 2)), 1)); print(gmm, gmm.mean, gmm.variance, gmm.sample((2,)), gmm.log_prob(torch.zeros(2)), gmm.batch_shape, gmm.event_shape)
a = torch.tensor(2.0, requires_grad=True); b = torch.tensor(3.0, requires_grad=True); x = torch.tensor([0.2, 0.4]); Beta(a, b).log_prob(x).sum().backward(); print(a.grad, b.grad); a.grad = None; Gamma(a, b).log_prob(x).sum().backward(); print(a.grad)
print(Gamma(2., 1.).expand([2]).sample().shape, Beta(1., 2.).expand([3]).batch_shape, kl_divergence(Gamma(2., 1.), Gamma(1., 1.)), kl_divergence(Beta(2., 1.), Beta(1., 1.)), kl_divergence(Dirichlet(torch.ones(3)), Dirichlet(torch.tensor([1., 2., 3.]))))
try: Beta(-1.0, 1.0)
except ValueError as e: print(e)
try: Gamma(torch.tensor([-1.]), 1.)
except ValueError as e: print(e)
try: Beta(1., 1.).log_prob(torch.tensor(2.))
except ValueError as e: print(e)
