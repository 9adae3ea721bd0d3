import torch
x=torch.tensor([1.,2.],requires_grad=True)
@torch.no_grad()
def gen(n):
    for k in range(n):
        yield k, torch.is_grad_enabled(), (x*k).requires_grad
for k,a,b in gen(3): print(k,a,b,torch.is_grad_enabled())
@torch.no_grad
def g(): return torch.is_grad_enabled()
print(g(), torch.is_grad_enabled())
@torch.inference_mode
def h(): return (x*2).is_inference(), torch.is_inference_mode_enabled()
print(h())
@torch.inference_mode()
def h2(): return (x*2).is_inference()
print(h2())
@torch.enable_grad()
def e(): return torch.is_grad_enabled()
with torch.no_grad(): print(e(), torch.is_grad_enabled())
@torch.set_grad_enabled(False)
def s(): return torch.is_grad_enabled()
print(s(), torch.is_grad_enabled())
m=torch.no_grad()
with m: print(torch.is_grad_enabled())
with m: print(torch.is_grad_enabled())
try:
    with torch.no_grad(): raise ValueError('a')
except ValueError: print(torch.is_grad_enabled())
with torch.no_grad():
    with torch.enable_grad(): y=x*2
    z=x*3
print(y.requires_grad,z.requires_grad)
t=torch.set_grad_enabled(False); print(torch.is_grad_enabled()); torch.set_grad_enabled(True)
with torch.set_grad_enabled(False) as q: print(q, torch.is_grad_enabled())
with torch.inference_mode():
    y=x*2; w=torch.ones(2); v=x.view(2,1)
print(y.is_inference(), w.is_inference(), v.is_inference())
for f in [lambda: y*x, lambda: y.requires_grad_(), lambda: (w*x).sum().backward(), lambda: y.sum().backward(), lambda: torch.autograd.grad(y.sum(),x), lambda: y.view(2), lambda: w+1, lambda: y.clone()*x, lambda: x.detach().copy_(w), lambda: w.detach().is_inference()]:
    try: print(f())
    except Exception as err: print(type(err).__name__, err)
with torch.inference_mode():
    w.mul_(1); print(w)
    with torch.inference_mode(False): print(torch.is_grad_enabled(), (x*2).requires_grad)
    print(torch.is_grad_enabled())
class C:
    @torch.no_grad()
    def m(self, a): return (a*x).requires_grad
print(C().m(2), 1)
with torch.no_grad():
    p=torch.nn.Parameter(torch.ones(2)); print(p.requires_grad)
    l=torch.nn.Linear(1,1); print(l.weight.requires_grad)
@torch.no_grad()
def gg():
    r = yield torch.is_grad_enabled()
    print('sent',r,torch.is_grad_enabled())
    yield 2
it=gg(); print(next(it))
try: print(it.send(5))
except Exception as err: print(type(err))
with torch.autograd.set_grad_enabled(False): print(torch.is_grad_enabled())
with torch.autograd.no_grad(): print(torch.is_grad_enabled())
with torch.autograd.grad_mode.inference_mode(): print(torch.is_grad_enabled())
