"""An op's derivative rules as text, read off its declaration."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast

    from gradsh.engine.op import Op


def rule_texts(op: Op) -> list[str]:
    """One line for each operand that has a rule: `gradient of input: g * other`."""
    import ast
    import inspect
    import textwrap

    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(op.kernel)))
    except (OSError, TypeError, SyntaxError):
        return []
    found = []
    for decorator in getattr(tree.body[0], "decorator_list", []):
        for keyword in getattr(decorator, "keywords", []):
            if keyword.arg in op.rules and isinstance(keyword.value, ast.Lambda):
                text = ast.unparse(_renamed(keyword.value.body, op))
                found.append(f"gradient of {op.public[keyword.arg]}: {text}")
    return found


def _renamed(tree: ast.AST, op: Op) -> ast.AST:
    import ast

    class Rename(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.Name:
            base, suffix = node.id, ""
            for ending in ("_shape", "_dtype"):
                if node.id.endswith(ending):
                    base, suffix = node.id[: -len(ending)], ending
            return ast.Name(op.public.get(base, base) + suffix, node.ctx)

    return Rename().visit(tree)  # type: ignore[no-any-return]
