"""matplotlib as programs see it: every call is taken down in order, for whoever draws it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from warnings import warn

from gradsh.engine.tensor import Tensor
from gradsh.lang import members
from gradsh.library.namespaces import Namespace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TOP = ("matplotlib", "mpl_toolkits")
PYPLOT = """
plot scatter figure legend title xlabel ylabel xlim ylim grid text subplot subplots imshow hist axis savefig show
ion ioff pause draw cla clf close
axes gca gcf sca delaxes subplot2grid subplot_mosaic subplots_adjust tight_layout suptitle supxlabel supylabel figtext
figlegend colorbar clim cm get_cmap set_cmap colormaps style rc rcdefaults rc_context
semilogx semilogy loglog bar barh bar_label fill fill_between fill_betweenx errorbar contour contourf clabel axhline axvline
axhspan axvspan axline hlines vlines annotate arrow xticks yticks xscale yscale tick_params ticklabel_format margins
minorticks_on minorticks_off locator_params autoscale box twinx twiny step stem stackplot pie boxplot violinplot quiver
quiverkey streamplot matshow spy pcolor pcolormesh hexbin hist2d hist2d eventplot polar table magma viridis plasma inferno
gray hot jet setp getp get_fignums fignum_exists isinteractive switch_backend get_backend xkcd imsave gci
Figure Axes Circle Rectangle Polygon Line2D Normalize subplot_tool draw_all
""".split()
# What ends a picture: nothing is added to it any more.
ENDS = frozenset(("show", "close", "clf", "cla"))
# What sets nothing in motion, so that nobody need be told that it was not drawn.
SILENT = frozenset(
    "ion ioff pause draw cla clf close style rc rcdefaults rc_context use cm get_cmap set_cmap colormaps setp "
    "switch_backend get_backend isinteractive get_fignums".split()
)
PAIRS = frozenset("xlim ylim get_xlim get_ylim get_zlim".split())
TICKS = frozenset("xticks yticks get_legend_handles_labels".split())


class Call:
    """One call: what was called, by which name, with what, and what it made."""

    __slots__ = ("args", "made", "name", "of", "settings")

    def __init__(self, of: Part, name: str, args: tuple[Any, ...], settings: dict[str, Any], made: Any) -> None:
        self.of, self.name, self.args, self.settings, self.made = of, name, args, settings, made


class Figures:
    """Everything that a program has asked to be drawn since the last picture was shown; its modules come from here."""

    def __init__(self, note: Callable[[str], None]) -> None:
        self.note = note
        self.calls: list[Call] = []
        self.parameters: dict[str, Any] = {}
        self._told: set[str] = set()

    def module(self, path: str) -> Namespace:
        """`matplotlib`, `matplotlib.pyplot` or any other module of it."""
        root = Part(self, path)
        known: dict[str, Any] = {"rcParams": self.parameters}
        if path != "matplotlib.pyplot":
            return Namespace(path, known, lambda name: self._inside(path, name, root))
        known |= {name: Part(self, name, root) for name in PYPLOT}
        return Namespace(path, known, lambda name: self._unknown(name, root))

    def _inside(self, path: str, name: str, root: Part) -> Any:
        return self.module(f"{path}.{name}") if path == "matplotlib" and name.islower() else Part(self, name, root)

    def _unknown(self, name: str, root: Part) -> Any:
        warn(f"matplotlib.pyplot has no {name} here; what it would draw is left out", stacklevel=2)
        return Part(self, name, root)

    def add(self, part: Part, args: tuple[Any, ...], settings: dict[str, Any]) -> Any:
        """Take a call down, and give what a program can go on with."""
        name = part.name
        args = tuple(map(kept, args))
        settings = {key: kept(value) for key, value in settings.items()}
        if name == "savefig":
            self._tell(name, f"figures are not drawn yet: {args[0] if args else 'the file'} is not written")
        elif name not in SILENT and not name[:1].isupper() and part.is_drawn():
            self._tell("", "figures are not drawn yet")
        made = self._made(part, name, args, settings)
        if name in ENDS:
            self.calls.clear()
        else:
            self.calls.append(Call(part.of or part, name, args, settings, made))
        return made

    def _tell(self, subject: str, text: str) -> None:
        """Say something once."""
        if subject not in self._told:
            self._told |= {subject, ""}
            self.note(text)

    def _made(self, part: Part, name: str, args: tuple[Any, ...], settings: dict[str, Any]) -> Any:
        if name == "subplots":
            axes = self._grid(part, *args, **settings)
            return axes if part.of is not None and part.of.name == "figure" else (Part(self, "figure", part.of), axes)
        if name == "plot":
            return [Part(self, "line", part) for _ in range(_lines(args))]
        if name == "hist":
            import numpy as np

            bins = args[1] if len(args) > 1 else settings.get("bins")
            values = args[0] if args else settings.get("x", ())
            counts, edges = np.histogram(
                np.ravel(values), 10 if bins is None else bins, density=settings.get("density")
            )
            return counts, edges, Part(self, "patches", part)
        if name in PAIRS:
            return args if len(args) == 2 else tuple(args[0]) if args and args[0] is not None else (0.0, 1.0)
        if name in TICKS and not args:
            return [], []
        if name in ("isinteractive", "fignum_exists"):
            return False
        if name == "get_fignums":
            return []
        if part.of is not None and part.of.name in ("cm", "get_cmap") and args:
            import numpy as np

            shape = np.shape(args[0])
            return np.zeros((*shape, 4)) if shape else (0.0, 0.0, 0.0, 1.0)
        return Part(self, name, part.of)

    def _grid(self, part: Part, nrows: int = 1, ncols: int = 1, *, squeeze: bool = True, **_: Any) -> Any:
        """The axes of a figure: one, or an array of them."""
        import numpy as np

        axes = np.empty((nrows, ncols), object)
        for place in np.ndindex(nrows, ncols):
            axes[place] = Part(self, "axes", part.of)
        if not squeeze:
            return axes
        return axes[0, 0] if axes.size == 1 else axes.squeeze()


class Part:
    """A figure, axes, a line, a colour map, or a method of one of these: it can be called, and asked for more."""

    __slots__ = ("figures", "name", "of")

    def __init__(self, figures: Figures, name: str, of: Part | None = None) -> None:
        self.figures, self.name, self.of = figures, name, of

    def is_drawn(self) -> bool:
        """Whether it belongs to a picture: a module's settings do not."""
        root = self
        while root.of is not None:
            root = root.of
        return root.name == "matplotlib.pyplot" or root.name.startswith("mpl_toolkits")

    def __call__(self, *args: Any, **settings: Any) -> Any:
        return self.figures.add(self, args, settings)

    def __getitem__(self, key: Any) -> Part:
        return Part(self.figures, f"[{key!r}]", self)

    def __setitem__(self, key: Any, value: Any) -> None:
        return

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __enter__(self) -> Part:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def __repr__(self) -> str:
        return f"<{self.name} of a picture>"


def kept(value: Any) -> Any:
    """An argument as it is now: what a program changes later has been drawn already."""
    if isinstance(value, Tensor):
        value = value.numpy()
    copy = getattr(value, "copy", None) if type(value).__module__ in ("builtins", "numpy") else None
    return value if copy is None else copy()


def _lines(args: tuple[Any, ...]) -> int:
    """How many lines `plot` draws: one for each pair of x and y, or for each column of y."""
    import numpy as np

    count, k = 0, 0
    data: list[Any] = [None if isinstance(value, str) else value for value in args]
    while k < len(data):
        pair = k + 1 < len(data) and data[k + 1] is not None
        y = data[k + 1] if pair else data[k]
        shape = np.shape(y)
        count += shape[1] if len(shape) > 1 else 1
        k += 2 if pair else 1
        if k < len(data) and data[k] is None:
            k += 1
    return count


members.policy(Part, lambda part, name: Part(part.figures, name, part), lambda part, name, value: None)
