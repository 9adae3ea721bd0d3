import torch, torch.nn.functional as F, torch.nn as nn
torch.set_default_dtype(torch.float64)
f, d, i = torch.float32, torch.float64, torch.int64
for sh in [(3,), (2, 3), (2, 2, 3)]:
    for b in (None, 1):
        for (p, q) in [(f, d), (d, f), (i, f), (f, i)]:
            try: print(F.linear(torch.ones(sh, dtype=p), torch.ones(2, 3, dtype=q), None if b is None else torch.ones(2, dtype=q)).dtype)
            except Exception as e: print(sh, b, p, q, type(e).__name__, e)
x = torch.tensor([1, 2, 3]); y = torch.tensor([0.5, 1.5], dtype=f, requires_grad=True)
o = torch.outer(x, y); print(o.dtype); o.sum().backward(); print(y.grad, y.grad.dtype, torch.outer(y, x).grad_fn.name(), torch.ger(y.detach().half(), x))
print(F.cosine_similarity(x, torch.ones(3, dtype=f), dim=0), F.cosine_similarity(torch.ones(3, dtype=d), torch.ones(3, dtype=f), dim=0).dtype)
a = torch.tensor([0.5], dtype=f, requires_grad=True); l = F.binary_cross_entropy_with_logits(a, torch.tensor([1.], dtype=d)); print(l); l.backward(); print(a.grad, a.grad.dtype, F.binary_cross_entropy_with_logits(a.double(), torch.tensor([1.], dtype=f)).dtype)
for m in [nn.Conv2d(1, 1, 1), nn.LSTM(1, 1), nn.BatchNorm1d(1), nn.LayerNorm(1), nn.GRUCell(1, 1), nn.Bilinear(1, 1, 1), nn.PReLU(), nn.MultiheadAttention(1, 1), nn.ConvTranspose1d(1, 1, 1)]:
    t = torch.ones(1, 1, 1, 1, dtype=d) if isinstance(m, nn.Conv2d) else torch.ones(1, 1, dtype=d) if isinstance(m, (nn.BatchNorm1d, nn.GRUCell, nn.Bilinear)) else torch.ones(1, 1, 1, dtype=d)
    m.float()
    if isinstance(m, nn.BatchNorm1d): m.eval()
    try: print(type(m).__name__, m(t, t) if isinstance(m, nn.Bilinear) else m(t, t, t)[0].dtype if isinstance(m, nn.MultiheadAttention) else m(t))
    except Exception as e: print(type(m).__name__, type(e).__name__, e)
for l in [F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.binary_cross_entropy, F.kl_div, F.poisson_nll_loss]:
    for p, q in [(f, d), (d, f)]:
        try: a = torch.tensor([0.25], dtype=p, requires_grad=True); r = l(a, torch.tensor([0.5], dtype=q)); r.backward(); print(l.__name__, r, a.grad)
        except Exception as e: print(l.__name__, type(e).__name__, e)
f, d = torch.float32, torch.float64
for fn, x, w in [(F.conv1d, (1, 1, 3), (1, 1, 2)), (F.conv2d, (1, 1, 3, 3), (1, 1, 2, 2)), (F.conv_transpose1d, (1, 1, 3), (1, 1, 2)), (F.conv_transpose2d, (1, 1, 3, 3), (1, 1, 2, 2)), (F.conv_transpose3d, (1, 1, 3, 3, 3), (1, 1, 2, 2, 2)), (F.conv3d, (1, 1, 3, 3, 3), (1, 1, 2, 2, 2))]:
    for a, b, c in [(f, d, d), (f, d, f), (f, f, d), (d, f, f), (f, d, None)]:
        try: print(fn(torch.ones(x, dtype=a), torch.ones(w, dtype=b), None if c is None else torch.ones(1, dtype=c)).dtype)
        except Exception as e: print(fn.__name__, a, b, c, e)
print(torch.isin(torch.tensor([[1, 2], [3, 4]]), torch.tensor([2, 3])), torch.isin(torch.tensor([1., 2.]), torch.tensor([[2.]]), invert=True), torch.isin(3, torch.tensor([3, 4])), torch.isin(torch.tensor([1, 2]), 2), torch.isin(torch.tensor([1, 2]), torch.tensor([])))
f = torch.compile(lambda a: a * 2); print(f(torch.ones(1)))
@torch.compile
def g(a): return a + 1
@torch.compile(fullgraph=True, mode="reduce-overhead")
def h(a): return a + 2
print(g(torch.ones(1)), h(torch.ones(1)))
