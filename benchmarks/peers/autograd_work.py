"""The work in HIPS autograd: `python -m benchmarks.peers.autograd_work NAME`."""

from __future__ import annotations

import autograd.numpy as np
import numpy
from autograd import grad, hessian, jacobian

from benchmarks.peers.work import main, work

random = numpy.random.RandomState(0)


def numbers(*shape, scale=0.1):
    return (random.randn(*shape) * scale).astype("f4")


def zeros(*shape):
    return numpy.zeros(shape, "f4")


def gradient_step(function, *operands):
    """A step that computes the gradients of all operands, packed into one."""
    gradient = grad(lambda packed: function(*packed))
    return lambda: gradient(operands)


def cross_entropy(scores, classes):
    shifted = scores - np.max(scores, axis=1, keepdims=True)
    logarithms = shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    return -np.mean(logarithms[numpy.arange(len(classes)), classes])


def chain_of_20(x, a, b):
    for _ in range(5):
        x = x * a
        x = x + b
        x = np.tanh(x)
        x = np.exp(x)
    return np.sum(x)


@work("scalar_chain", per=20)
def scalar_chain():
    return gradient_step(chain_of_20, *map(numpy.float32, (0.5, 0.7, 0.1)))


@work("one_element_chain", per=20)
def one_element_chain():
    return gradient_step(chain_of_20, *(numpy.full(1, value, "f4") for value in (0.5, 0.7, 0.1)))


@work("mlp_by_hand")
def mlp_by_hand():
    x, classes = numbers(32, 64, scale=1), random.randint(0, 10, 32)
    parameters = [numbers(64, 64), zeros(64), numbers(64, 64), zeros(64), numbers(64, 10), zeros(10)]

    def loss(p):
        h = np.tanh(np.dot(x, p[0]) + p[1])
        h = np.tanh(np.dot(h, p[2]) + p[3])
        return cross_entropy(np.dot(h, p[4]) + p[5], classes)

    gradient, rate = grad(loss), numpy.float32(0.01)

    def step():
        for parameter, slope in zip(parameters, gradient(parameters)):
            parameter -= rate * slope

    return step


@work("rnn_loop")
def rnn_loop():
    inputs, start = numbers(100, 16, 64, scale=1), zeros(16, 64)

    def unrolled(wx, wh, b):
        h = start
        for t in range(100):
            h = np.tanh(np.dot(inputs[t], wx) + np.dot(h, wh) + b)
        return np.mean(h * h)

    return gradient_step(unrolled, numbers(64, 64), numbers(64, 64), zeros(64))


def chain_of(length):
    def chain(x):
        for _ in range(length // 2):
            x = x * 1.000001 + 0.0000001
        return x

    gradient = grad(chain)
    return lambda: gradient(1.0)


@work("long_chain", per=100_000)
def long_chain():
    return chain_of(100_000)


@work("elementwise_10m")
def elementwise_10m():
    return gradient_step(lambda x: np.sum(np.tanh(x * 2 + 1) * np.exp(-x * x)), numbers(10_000_000, scale=1))


@work("matmul_1024")
def matmul_1024():
    return gradient_step(lambda a, b: np.sum(np.dot(a, b)), numbers(1024, 1024), numbers(1024, 1024))


@work("while_loop")
def while_loop():
    def shrink(x, s, b):
        while np.sum(x * x) > 0.2:
            x = x * s + b
        return np.sum(x * x)

    x = numpy.linspace(1, 2, 10).astype("f4")
    return gradient_step(shrink, x, numpy.float32(0.95), numpy.full(10, 1e-3, "f4"))


@work("hessian_rosenbrock")
def hessian_rosenbrock():
    x = numpy.linspace(-1, 1, 50).astype("f4")
    matrix = hessian(lambda v: np.sum(100 * (v[1:] - v[:-1] ** 2) ** 2 + (1 - v[:-1]) ** 2))
    return lambda: matrix(x)


@work("jacobian_layer")
def jacobian_layer():
    x, weight, b = numbers(64), numbers(64, 64), numbers(64)
    matrix = jacobian(lambda v: np.tanh(np.dot(weight, v) + b))
    return lambda: matrix(x)


@work("diamonds")
def diamonds():
    def chain(x):
        for _ in range(1000):
            x = x * 0.4 + x * 0.6
        return x

    gradient = grad(chain)
    return lambda: gradient(1.0)


if __name__ == "__main__":
    main()
