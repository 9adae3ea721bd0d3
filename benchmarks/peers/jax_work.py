"""The work in JAX: `python -m benchmarks.peers.jax_work [jit] NAME`."""

from __future__ import annotations

import sys

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.peers.work import main, work

JIT = "jit" in sys.argv
ready = jax.block_until_ready
random = np.random.RandomState(0)


def compiled(function):
    return jax.jit(function) if JIT else function


def numbers(*shape, scale=0.1):
    return jnp.asarray((random.randn(*shape) * scale).astype("f4"))


def zeros(*shape):
    return jnp.zeros(shape, "f4")


def gradient_step(function, *operands):
    """A step that computes the gradients of all operands, packed into one."""
    gradient = compiled(jax.grad(lambda packed: function(*packed)))
    return lambda: ready(gradient(operands))


def training_step(loss, parameters):
    """A step of descent; the parameters stay as they are, which costs the same."""
    gradient = jax.grad(loss)
    step = compiled(lambda now: [p - 0.01 * g for p, g in zip(now, gradient(now))])
    return lambda: ready(step(parameters))


def cross_entropy(scores, classes):
    logarithms = jax.nn.log_softmax(scores, axis=1)
    return -jnp.mean(logarithms[jnp.arange(len(classes)), classes])


def chain_of_20(x, a, b):
    for _ in range(5):
        x = x * a
        x = x + b
        x = jnp.tanh(x)
        x = jnp.exp(x)
    return jnp.sum(x)


@work("scalar_chain", per=20)
def scalar_chain():
    return gradient_step(chain_of_20, *map(jnp.float32, (0.5, 0.7, 0.1)))


@work("one_element_chain", per=20)
def one_element_chain():
    return gradient_step(chain_of_20, *(jnp.full(1, value, "f4") for value in (0.5, 0.7, 0.1)))


@work("mlp_by_hand")
def mlp_by_hand():
    x, classes = numbers(32, 64, scale=1), jnp.asarray(random.randint(0, 10, 32))
    parameters = [numbers(64, 64), zeros(64), numbers(64, 64), zeros(64), numbers(64, 10), zeros(10)]

    def loss(p):
        h = jnp.tanh(x @ p[0] + p[1])
        h = jnp.tanh(h @ p[2] + p[3])
        return cross_entropy(h @ p[4] + p[5], classes)

    return training_step(loss, parameters)


@work("rnn_loop")
def rnn_loop():
    inputs, start = numbers(100, 16, 64, scale=1), zeros(16, 64)

    def unrolled(wx, wh, b):
        h = start
        for t in range(100):
            h = jnp.tanh(inputs[t] @ wx + h @ wh + b)
        return jnp.mean(h * h)

    def scanned(wx, wh, b):
        h, _ = jax.lax.scan(lambda h, x: (jnp.tanh(x @ wx + h @ wh + b), None), start, inputs)
        return jnp.mean(h * h)

    return gradient_step(scanned if JIT else unrolled, numbers(64, 64), numbers(64, 64), zeros(64))


# Compiling a chain of 100,000 takes minutes.
@work("long_chain", per=100_000, unless=JIT)
def long_chain():
    def chain(x):
        for _ in range(50_000):
            x = x * 1.000001 + 0.0000001
        return x

    return lambda: ready(jax.grad(chain)(1.0))


@work("elementwise_10m")
def elementwise_10m():
    return gradient_step(lambda x: jnp.sum(jnp.tanh(x * 2 + 1) * jnp.exp(-x * x)), numbers(10_000_000, scale=1))


@work("matmul_1024")
def matmul_1024():
    return gradient_step(lambda a, b: jnp.sum(a @ b), numbers(1024, 1024), numbers(1024, 1024))


def convolve(x, kernel, padding):
    return jax.lax.conv_general_dilated(x, kernel, (1, 1), padding, dimension_numbers=("NCHW", "OIHW", "NCHW"))


def along_channels(b):
    return b[None, :, None, None]


@work("conv2d")
def conv2d():
    return gradient_step(
        lambda x, k, b: jnp.sum(convolve(x, k, "SAME") + along_channels(b)),
        numbers(16, 3, 64, 64),
        numbers(16, 3, 3, 3),
        zeros(16),
    )


@work("lenet_step")
def lenet_step():
    x, classes = numbers(64, 1, 28, 28, scale=1), jnp.asarray(random.randint(0, 10, 64))
    parameters = [numbers(6, 1, 5, 5), zeros(6), numbers(16, 6, 5, 5), zeros(16), numbers(256, 120), zeros(120)]
    parameters += [numbers(120, 84), zeros(84), numbers(84, 10), zeros(10)]

    def pooled(h):
        return jax.lax.reduce_window(h, -jnp.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")

    def loss(p):
        h = pooled(jax.nn.relu(convolve(x, p[0], "VALID") + along_channels(p[1])))
        h = pooled(jax.nn.relu(convolve(h, p[2], "VALID") + along_channels(p[3])))
        h = jax.nn.relu(h.reshape(64, 256) @ p[4] + p[5])
        h = jax.nn.relu(h @ p[6] + p[7])
        return cross_entropy(h @ p[8] + p[9], classes)

    return training_step(loss, parameters)


# The number of trips depends on the data.
@work("while_loop", unless=JIT)
def while_loop():
    def shrink(x, s, b):
        while jnp.sum(x * x) > 0.2:
            x = x * s + b
        return jnp.sum(x * x)

    return gradient_step(shrink, jnp.linspace(1, 2, 10), jnp.float32(0.95), jnp.full(10, 1e-3))


@work("hessian_rosenbrock")
def hessian_rosenbrock():
    x = jnp.linspace(-1, 1, 50)
    hessian = compiled(jax.hessian(lambda v: jnp.sum(100 * (v[1:] - v[:-1] ** 2) ** 2 + (1 - v[:-1]) ** 2)))
    return lambda: ready(hessian(x))


@work("jacobian_layer")
def jacobian_layer():
    x, weight, b = numbers(64), numbers(64, 64), numbers(64)
    jacobian = compiled(jax.jacrev(lambda v: jnp.tanh(weight @ v + b)))
    return lambda: ready(jacobian(x))


# Compiling them takes minutes, and is then one multiplication.
@work("diamonds", unless=JIT)
def diamonds():
    def chain(x):
        for _ in range(1000):
            x = x * 0.4 + x * 0.6
        return x

    return gradient_step(chain, 1.0)


if __name__ == "__main__":
    main()
