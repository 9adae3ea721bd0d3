import torch
import torch.nn.functional as F
from torch.func import functional_call, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp, vmap

torch.set_default_dtype(torch.float64)


def attempt(label, function):
    try:
        print(label, "->", function())
    except Exception as error:
        print(label, "!!", type(error).__name__, error)


a = torch.arange(6.0).view(2, 3)
b = torch.ones(2, 3)
v = torch.tensor([1.0, 2.0, 3.0])
for name, fn in dict(
    rand=lambda x: torch.rand(2),
    randn=lambda x: torch.randn(2) + x[0],
    dropout=lambda x: F.dropout(x),
    randn_like=lambda x: torch.randn_like(x),
    rand_like=lambda x: torch.rand_like(x),
    normal_=lambda x: x.clone().normal_(),
    bernoulli=lambda x: torch.bernoulli(torch.ones_like(x) * 0.5),
    randint=lambda x: torch.randint(0, 10, (3,)),
    randperm=lambda x: torch.randperm(4),
    multinomial=lambda x: torch.multinomial(x + 1, 2),
    bernoulli_=lambda x: x.clone().bernoulli_(0.5),
    uniform_=lambda x: x.clone().uniform_(),
    poisson=lambda x: torch.poisson(x),
    normal=lambda x: torch.normal(x, 1.0),
    normal2=lambda x: torch.normal(0.0, 1.0, (2,)),
    dropout_un=lambda x: F.dropout(v) + x,
    randn_like_un=lambda x: torch.randn_like(v) + x,
    normal_un=lambda x: torch.zeros(3).normal_() + x,
    adrop=lambda x: F.alpha_dropout(x),
    fdrop=lambda x: F.dropout1d(x[None]),
    exponential_=lambda x: x.clone().exponential_(),
    gumbel=lambda x: F.gumbel_softmax(x),
    rrelu=lambda x: F.rrelu(-x, training=True),
    randint_like=lambda x: torch.randint_like(x, 10),
    multinomial_un=lambda x: torch.multinomial(v, 2) + x[0],
).items():
    for mode in ("error", "same", "different"):
        torch.manual_seed(0)
        attempt(f"random {name} {mode}", lambda: vmap(fn, randomness=mode)(a))
attempt("random bad", lambda: vmap(lambda x: x, randomness="zz")(a))
torch.manual_seed(0)
attempt(
    "vmap vmap rand diff",
    lambda: vmap(vmap(lambda x: torch.randn(()), randomness="different"), randomness="different")(a),
)
torch.manual_seed(0)
attempt(
    "vmap vmap rand diff same",
    lambda: vmap(vmap(lambda x: torch.randn(()), randomness="different"), randomness="same")(a),
)
torch.manual_seed(0)
attempt(
    "vmap vmap rand same diff",
    lambda: vmap(vmap(lambda x: torch.randn(()), randomness="same"), randomness="different")(a),
)
torch.manual_seed(0)
attempt("vmap chunk rand diff", lambda: vmap(lambda x: torch.randn(2), randomness="different", chunk_size=1)(a))
torch.manual_seed(0)
attempt("vmap chunk rand same", lambda: vmap(lambda x: torch.randn(2), randomness="same", chunk_size=1)(a))
