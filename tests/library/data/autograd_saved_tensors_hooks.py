import torch
torch.set_default_dtype(torch.float64)
H=torch.autograd.graph.saved_tensors_hooks
def show(label, f):
    try: print(label, '->', f())
    except Exception as e: print(label, '!', type(e).__name__, str(e)[:300])
def pack(x): print('pack', x.detach()); return x*10 if False else x
def unpack(x): print('unpack', x.detach()); return x
a=torch.tensor([1.,2.],requires_grad=True); b=torch.tensor([3.,4.],requires_grad=True)
with H(pack,unpack):
    y=a*b
y.sum().backward(); print(a.grad,b.grad)
with H(pack,unpack): y=a.exp()
print('saved', y.grad_fn._saved_result)
y.sum().backward(); print(a.grad)
with H(lambda x: x.tolist(), lambda l: torch.tensor(l)*100): y=a*a
a.grad=None; y.sum().backward(); print(a.grad)
with H(lambda x: 3, lambda l: 4): y=a*b
show('bad', lambda: y.sum().backward())
with H(lambda x: x, lambda l: l):
    y=a**3; g,=torch.autograd.grad(y.sum(),a,create_graph=True)
print(g, torch.autograd.grad(g.sum(),a))
class Sq(torch.autograd.Function):
    @staticmethod
    def forward(ctx,x): ctx.save_for_backward(x); return x*x
    @staticmethod
    def backward(ctx,g): x,=ctx.saved_tensors; return 2*x*g
with H(pack,unpack): y=Sq.apply(a)
a.grad=None; y.sum().backward(); print(a.grad)
with H(pack,unpack): z=a+1
with H(lambda x: x, lambda x: x):
    with H(pack,unpack): y=a.sin()
y.sum().backward(retain_graph=True); y.sum().backward()
show('again', lambda: y.sum().backward())
with H(pack,unpack):
    with torch.no_grad(): y=a*b
with torch.autograd.graph.save_on_cpu(): y=a*b
y.sum().backward()
