import torch

torch.set_default_dtype(torch.float64)
Function=torch.autograd.Function
once_differentiable=torch.autograd.function.once_differentiable
def show(label, f):
    try: print(label, '->', f())
    except Exception as e: print(label, '!', type(e).__name__, str(e)[:400])
class Sq(Function):
    @staticmethod
    def forward(ctx,x):
        ctx.save_for_backward(x); ctx.k=3
        print('fwd', torch.is_grad_enabled(), x.requires_grad, type(ctx).__name__)
        return x*x
    @staticmethod
    def backward(ctx,g):
        x,=ctx.saved_tensors
        print('bwd', torch.is_grad_enabled(), ctx.needs_input_grad, ctx.k, g.requires_grad, x.requires_grad)
        return 2*x*g
x=torch.tensor([1.,2.],requires_grad=True)
y=Sq.apply(x); print(y, y.grad_fn.name(), type(y.grad_fn).__name__, y.grad_fn.next_functions[0][0].name())
y.sum().backward(); print(x.grad)
show('again', lambda: y.sum().backward())
show('saved after', lambda: y.grad_fn.saved_tensors)
y=Sq.apply(x); g,=torch.autograd.grad(y.sum(),x,create_graph=True); print(g); print(torch.autograd.grad(g.sum(),x))
y=Sq.apply(x.detach()); print(y, y.grad_fn)
with torch.no_grad(): print(Sq.apply(x))
print('nested', Sq.apply(Sq.apply(x)))
class Mul(Function):
    @staticmethod
    def forward(ctx,a,b,c):
        ctx.save_for_backward(a,b); ctx.c=c
        return a*b*c
    @staticmethod
    def backward(ctx,g):
        a,b=ctx.saved_tensors
        print(ctx.needs_input_grad)
        return g*b*ctx.c, g*a*ctx.c, None
b=torch.tensor([3.,4.])
y=Mul.apply(x,b,2.); y.sum().backward(); print(x.grad)
print(len(y.grad_fn.next_functions))
def mk(name, fwd, bwd):
    class F1(Function):
        forward = staticmethod(fwd)
        backward = staticmethod(bwd)
    return F1
class NoBackward(Function):
    forward = staticmethod(lambda ctx, x: x * 2)
class NoForward(Function):
    pass
show('no backward', lambda: NoBackward.apply(x).sum().backward())
show('no forward', lambda: NoForward.apply(x))
show('too many', lambda: mk('F1',lambda ctx,x:x*2,lambda ctx,g:(g,g)).apply(x).sum().backward())
show('too many none', lambda: mk('F1',lambda ctx,x:x*2,lambda ctx,g:(g,None)).apply(x).sum().backward())
show('too few', lambda: mk('F1',lambda ctx,x,y:x*2,lambda ctx,g:(g,)).apply(x,x).sum().backward())
show('none', lambda: mk('F1',lambda ctx,x:x*2,lambda ctx,g:None).apply(x).sum().backward())
show('none grad', lambda: torch.autograd.grad(mk('F1',lambda ctx,x:x*2,lambda ctx,g:None).apply(x).sum(),x))
show('none grad unused', lambda: torch.autograd.grad(mk('F1',lambda ctx,x:x*2,lambda ctx,g:None).apply(x).sum(),x,allow_unused=True))
show('wrong shape', lambda: mk('F1',lambda ctx,x:x*2,lambda ctx,g:torch.ones(3)).apply(x).sum().backward())
show('broadcast shape', lambda: torch.autograd.grad(mk('F1',lambda ctx,x:x*2,lambda ctx,g:torch.ones(1)).apply(x).sum(),x))
show('expand shape', lambda: torch.autograd.grad(mk('F1',lambda ctx,x:x*2,lambda ctx,g:torch.ones(4,2)).apply(x).sum(),x))
show('wrong dtype', lambda: torch.autograd.grad(mk('F1',lambda ctx,x:x*2,lambda ctx,g:g.float()).apply(x).sum(),x))
show('int', lambda: torch.autograd.grad(mk('F1',lambda ctx,x:x*2,lambda ctx,g:3).apply(x).sum(),x))
show('float tuple', lambda: torch.autograd.grad(mk('F1',lambda ctx,x:x*2,lambda ctx,g:(3.,)).apply(x).sum(),x))
show('list', lambda: torch.autograd.grad(mk('F1',lambda ctx,x:x*2,lambda ctx,g:[g]).apply(x).sum(),x))
show('call', lambda: Sq()(x))
show('kw', lambda: Sq.apply(x=x))
show('ret list', lambda: mk('F1',lambda ctx,x:[x*2],lambda ctx,g:g).apply(x))
show('ret tuple1', lambda: mk('F1',lambda ctx,x:(x*2,),lambda ctx,g:g).apply(x))
show('ret num', lambda: mk('F1',lambda ctx,x:3,lambda ctx,g:g).apply(x))
show('ret mixed', lambda: mk('F1',lambda ctx,x:(x*2,3),lambda ctx,g,h:g).apply(x))
def two(ctx,x): return x*2, x*3
def twob(ctx,g,h): print('g',g,'h',h); return 2*g+3*h
a,c=mk('Two',two,twob).apply(x); print(a,c,a.grad_fn is c.grad_fn,a.output_nr,c.output_nr); show('one used', lambda: torch.autograd.grad(a.sum(),x))
def twon(ctx,x): ctx.set_materialize_grads(False); return x*2, x*3
def twonb(ctx,g,h): print('g',g,'h',h); return 2*g
a,c=mk('Two',twon,twonb).apply(x); show('not mat', lambda: torch.autograd.grad(a.sum(),x))
def nd(ctx,x): r=(x>1); ctx.mark_non_differentiable(r); return x*2,r
def ndb(ctx,g,h): print(h); return 2*g
a,c=mk('ND',nd,ndb).apply(x); print(a,c); show('nd', lambda: torch.autograd.grad(a.sum(),x))
def ndf(ctx,x): r=x*1; ctx.mark_non_differentiable(r); return x*2,r
a,c=mk('ND',ndf,ndb).apply(x); print(a,c,c.requires_grad); show('nd', lambda: torch.autograd.grad(a.sum(),x))
def dirty(ctx,x): x.mul_(2); ctx.mark_dirty(x); return x
D=mk('Dirty',dirty,lambda ctx,g:2*g)
z=x*1; w=D.apply(z); print(w is z, z, z.grad_fn.name(), z._version); show('dirty', lambda: torch.autograd.grad((z*z).sum(),x))
show('dirty leaf', lambda: D.apply(x))
def dirty2(ctx,x): ctx.mark_dirty(x); return x*2
show('dirty not ret', lambda: mk('D2',dirty2,lambda ctx,g:2*g).apply(x*1))
Id=mk('Id',lambda ctx,x:x,lambda ctx,g:g*10)
z=x*1; w=Id.apply(z); print('id',w is z, w.grad_fn.name(), z.grad_fn.name()); show('id', lambda: torch.autograd.grad(w.sum(),x))
w=Id.apply(x); print('idleaf', w is x, w, x)
V=mk('V',lambda ctx,x:x.view(1,2),lambda ctx,g:g.view(2))
w=V.apply(x*1); print('view',w, w._is_view()); show('view inplace', lambda: w.mul_(2))
show('id inplace', lambda: Id.apply(x*1).mul_(2))
def ss(x): return x*x
class New(Function):
    @staticmethod
    def forward(x,k): return x*k
    @staticmethod
    def setup_context(ctx,inputs,output):
        x,k=inputs; ctx.k=k; ctx.save_for_backward(x,output); print('setup',torch.is_grad_enabled(), output.requires_grad)
    @staticmethod
    def backward(ctx,g): 
        x,o=ctx.saved_tensors; print(o)
        return g*ctx.k, None
y=New.apply(x,3.); print(y); show('new', lambda: torch.autograd.grad(y.sum(),x))
class Exp(Function):
    @staticmethod
    def forward(ctx,x):
        r=x.exp(); ctx.save_for_backward(r); return r
    @staticmethod
    def backward(ctx,g):
        r,=ctx.saved_tensors; return g*r
y=Exp.apply(x); g,=torch.autograd.grad(y.sum(),x,create_graph=True); print(g, torch.autograd.grad(g.sum(),x))
y=Exp.apply(x); y.data.mul_(2); show('data',lambda: torch.autograd.grad(y.sum(),x))
y=Exp.apply(x); y.mul_(2); show('saved out changed',lambda: torch.autograd.grad(y.sum(),x))
z=x*1; y=Sq.apply(z); z.mul_(2); show('saved in changed',lambda: torch.autograd.grad(y.sum(),x))
def svint(ctx,x): ctx.save_for_backward(3); return x
show('save int', lambda: mk('S',svint,lambda ctx,g:g).apply(x))
def svnone(ctx,x): ctx.save_for_backward(None,x); return x*2
def svnoneb(ctx,g): print(ctx.saved_tensors); return g
show('save none', lambda: torch.autograd.grad(mk('S',svnone,svnoneb).apply(x).sum(),x))
def sv2(ctx,x): ctx.save_for_backward(x); ctx.save_for_backward(x*2); return x*2
show('save twice', lambda: torch.autograd.grad(mk('S',sv2,svnoneb).apply(x).sum(),x))
class Once(Function):
    @staticmethod
    def forward(ctx,x): return x*x
    @staticmethod
    @once_differentiable
    def backward(ctx,g): print(torch.is_grad_enabled()); return g*2
g,=torch.autograd.grad(Once.apply(x).sum(),x,create_graph=True); print(g, g.grad_fn); show('twice', lambda: torch.autograd.grad(g.sum(),x))
def raise_(ctx,x): raise ValueError('mine')
show('raise', lambda: mk('R',raise_,svnoneb).apply(x))
show('raise back', lambda: mk('R',lambda ctx,x:x*2,raise_).apply(x).sum().backward())
show('ctx attr', lambda: Sq.apply(x).grad_fn.k)
show('ctx saved', lambda: Sq.apply(x).grad_fn.saved_tensors)
show('grads for int input', lambda: torch.autograd.grad(mk('F1',lambda ctx,x,i:x*i,lambda ctx,g,:(g,torch.ones(2))).apply(x,torch.tensor([1,2])).sum(),x))
show('grads for non-tensor', lambda: torch.autograd.grad(mk('F1',lambda ctx,x,i:x*i,lambda ctx,g,:(g,torch.ones(2))).apply(x,2).sum(),x))
show('out int', lambda: mk('F1',lambda ctx,x:x.long(),lambda ctx,g:g).apply(x))
show('mark_nd bad', lambda: mk('F1',lambda ctx,x:(ctx.mark_non_differentiable(3),x*2)[1],lambda ctx,g:g).apply(x))
show('ctx.foo', lambda: mk('F1',lambda ctx,x:ctx.foo,lambda ctx,g:g).apply(x))
h=[]
y=Sq.apply(x); y.register_hook(lambda g:h.append(g)); y.grad_fn.register_hook(lambda gi,go:print('node hook',gi,go)); y.sum().backward(); print(h)
# two inputs same tensor
y=Mul.apply(x,x,1.); print(torch.autograd.grad(y.sum(),x))
# list args are not tensors
show('listarg', lambda: mk('L',lambda ctx,xs:xs[0]*2,lambda ctx,g:None).apply([x]))
y=Sq.apply(torch.tensor(3.,requires_grad=True)); print(y)
with torch.inference_mode(): print(Sq.apply(torch.ones(1)))
