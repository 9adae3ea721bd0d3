"""numpy as programs use it beside PyTorch."""
import numpy as np
from numpy import array, pi
from numpy.random import randn

print(np.array([1.0, 2.0]), repr(np.array([1.0, 2.0])), np.array([1, 2]), np.array([True]), np.array(["a", "bc"]))
print(np.zeros((2, 3)), np.ones(2), np.full((2, 2), 7), np.eye(2), np.empty(0), np.arange(0, 1, 0.25), np.linspace(0, 1, 3))
print(np.logspace(0, 2, 3), np.mgrid[0:2, 0:3], np.c_[np.ones(2), np.zeros(2)], np.r_[1:4, 0])
xx, yy = np.meshgrid(np.linspace(-1, 1, 3), np.linspace(0, 1, 2))
print(xx.ravel(), yy.flatten(), np.stack([xx, yy]).shape, np.vstack((xx, yy)).shape, np.hstack((xx, yy)).shape)
a = array([[1.0, 2.0], [3.0, 4.0]], dtype=np.float32)
print(a.dtype, a.shape, a.size, a.ndim, a.T, a.sum(), a.sum(0), a.mean(axis=1), a.std(), a.max(), a.argmin(1))
print(a[0], a[:, 1], a[a > 2], a[..., np.newaxis].shape, a[::-1], a.reshape(-1), a.reshape(4, 1).squeeze(), a.copy() is a)
print(a @ a, a.dot(a), a * a, a ** 2, 1 / a, -a, a == a.T, a.astype(int), a.tolist(), a.item(3), a.flatten().tolist())
print(np.sin(pi / 2), np.exp(a), np.log(a), np.sqrt(a), np.abs(-a), np.maximum(a, 2), np.minimum(a, 2), np.clip(a, 2, 3))
print(np.sum(a), np.mean(a, 0), np.std(a), np.var(a), np.power(a, 2), np.square(a), np.add(a, 1), np.subtract(a, 1))
print(np.triu(a), np.tril(a), np.where(a > 2, a, 0), np.transpose(a), np.expand_dims(a, 0).shape, np.unique([3, 1, 3]))
print(np.sort([3, 1, 2]), np.argsort([3, 1, 2]), np.cumsum([1, 2, 3]), np.cumprod([1, 2, 3]), np.allclose(a, a + 1e-9))
print(np.isnan([np.nan, 1]), np.outer([1, 2], [3, 4]), np.linalg.norm(a), np.linalg.inv(a), np.linalg.det(a))
print(np.linalg.solve(a, np.ones(2)), np.concatenate([a, a], axis=1), np.tile([1, 2], 2), np.repeat([1, 2], 2), np.diag(a))
print(np.float32(1.5), repr(np.float64(1.5)), np.int64(3) // 2, np.bool_(True), float(np.float32(0.5)), int(np.int64(3)))
print(type(a), isinstance(a, np.ndarray), type(a[0, 0]), isinstance(a[0, 0], np.floating), a.dtype == np.float32)
print(f"{a.mean():.2f} {np.float64(3)} {a[0]}", "%d %.1f" % (np.int64(2), np.float64(0.25)), "{}".format(a[0]))
a += 1
a[0, 0] = -1
a[1] *= 2
print(a, [row.sum() for row in a], list(a[0]), len(a), sum(a[0]), max(a[1]), 3.0 in a, (a > 0).all(), np.any(a < 0))
for row, (x, y) in enumerate(a):
    print(row, x, y)
print(np.histogram([1, 2, 1], bins=3), np.bincount([0, 1, 1]), np.polyfit([0, 1, 2], [0, 1, 4], 2).round(6))
print(np.einsum("ij,jk->ik", a, a), np.tensordot(a, a, 1), np.convolve([1, 2], [1, 1]), np.interp(0.5, [0, 1], [2, 4]))
print(np.vectorize(lambda v: v * 2)(a), np.apply_along_axis(lambda row: row.sum(), 0, a))
np.random.seed(0)
print(np.random.rand(2), np.random.randn(2, 2), np.random.randint(0, 10, 5), np.random.normal(0, 1, 2), np.random.uniform(-1, 1, 2))
print(np.random.choice(5, 3), np.random.choice(["x", "y"], 2, p=[0.1, 0.9]), np.random.permutation(4), np.random.random(), randn(2))
items = [1, (2, 3), "four", None]
np.random.shuffle(items)
print(items)
print(np.random.RandomState(3).randn(2), np.random.default_rng(3).normal(size=2), np.random.default_rng(3).integers(0, 9, 3))
np.set_printoptions(precision=2, suppress=True)
print(np.array([1.23456, 1e-9]))
np.set_printoptions(precision=8, suppress=False)
print(np.finfo(np.float32).eps, np.iinfo(np.int32).max, np.dtype("float32").name, np.arange(1000 * 3))
np.testing.assert_allclose([1.0], [1.0 + 1e-9])
for attempt in (
    lambda: np.ones(2) + np.ones(3), lambda: np.ones(3).reshape(2, 2), lambda: np.linalg.inv(np.zeros((2, 2))),
    lambda: np.ones(3)[5], lambda: np.concatenate([np.ones(2), np.ones((2, 2))]), lambda: np.ones((2, 2)).sum(axis=3),
    lambda: bool(np.ones(2)), lambda: np.array([[1, 2], [3]]), lambda: np.matmul(np.ones(2), np.ones(3)),
    lambda: int(np.array([1, 2])), lambda: np.ones(2).nothing,
):
    try:
        print(attempt())
    except Exception as error:
        print(type(error).__name__, error)
