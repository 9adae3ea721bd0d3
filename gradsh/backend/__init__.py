"""Array namespaces: what an op's kernel sees as `xp`, chosen by the type of the data.

A *raw* value is what a Tensor holds. It has one of three forms: a Python float (0-d float64), a
`numpy.float32` (0-d float32), or an ndarray (everything else, and a 0-d value that is shared with
another handle, because a float cannot be). `scalars` is the namespace of the first two, `arrays`
that of the third; numpy is imported by the first array and not before.
"""
