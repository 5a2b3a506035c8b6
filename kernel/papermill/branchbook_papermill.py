"""Parameters in Go syntax for papermill, which knows no Go of its own.

papermill imports every entry point of its group papermill.engine when it
starts: importing this module registers the translator. `branchbook install`
writes the module into the environment; `branchbook uninstall` removes it.
"""

import json
import math
import re

from papermill.engines import NBClientEngine
from papermill.models import Parameter
from papermill.translators import Translator, papermill_translators

# The Go types of lists whose elements all have such a Python type.
ELEMENTS = {
    frozenset({str}): "string",
    frozenset({bool}): "bool",
    frozenset({int}): "int",
    frozenset({float}): "float64",
    frozenset({int, float}): "float64",
}

# A declaration of the cell tagged parameters: name, type, value, comment.
PARAMETER = re.compile(
    r"""^\s*(?:(?:var|const)\s+)?(?P<name>[^\W\d]\w*)\s*
        (?::=|(?P<type>[^=/]*?)=)\s*
        (?P<value>(?:"(?:\\.|[^"\\])*"|`[^`]*`|'(?:\\.|[^'\\])*'|(?!//).)*?)\s*
        (?://\s*(?P<help>.*))?$""",
    re.VERBOSE,
)


class GoTranslator(Translator):
    """Writes a parameter as a declaration. A name that an earlier cell
    declared may be declared again, with another type too."""

    @classmethod
    def assign(cls, name, value):
        return f"var {name} = {value}"

    @classmethod
    def comment(cls, text):
        return f"// {text}".strip()

    @classmethod
    def translate_none(cls, value):
        return "any(nil)"

    @classmethod
    def translate_bool(cls, value):
        return "true" if value else "false"

    @classmethod
    def translate_int(cls, value):
        # A constant that no int holds may still be a uint64.
        return f"uint64({value:d})" if 2**63 <= value < 2**64 else f"{value:d}"

    @classmethod
    def translate_float(cls, value):
        if math.isnan(value):
            return "math.NaN()"
        if math.isinf(value):
            return f"math.Inf({'1' if value > 0 else '-1'})"
        return repr(float(value))

    @classmethod
    def translate_str(cls, value):
        # JSON's escapes are Go's. A source text holds neither a byte order
        # mark nor half a surrogate pair.
        text = json.dumps(value, ensure_ascii=False).replace("\ufeff", "\\ufeff")
        return text.encode("utf-8", "replace").decode("utf-8")

    @classmethod
    def translate_escaped_str(cls, value):
        # What YAML has and JSON has not: dates and times.
        return cls.translate_str(str(value))

    @classmethod
    def translate(cls, value):
        return super().translate(list(value) if isinstance(value, tuple) else value)

    @classmethod
    def translate_list(cls, value):
        return cls.type_of(value) + "{" + ", ".join(cls.translate(v) for v in value) + "}"

    @classmethod
    def translate_dict(cls, value):
        pairs = (f"{cls.translate_str(str(k))}: {cls.translate(v)}" for k, v in value.items())
        return "map[string]any{" + ", ".join(pairs) + "}"

    @classmethod
    def type_of(cls, values):
        """The Go type of a list: []T if all elements are of one type T."""
        if values and all(isinstance(v, (list, tuple)) for v in values):
            inner = {cls.type_of(v) for v in values}
            return "[]" + (inner.pop() if len(inner) == 1 else "any")
        if values and all(isinstance(v, dict) for v in values):
            return "[]map[string]any"
        return "[]" + ELEMENTS.get(frozenset(type(v) for v in values), "any")

    @classmethod
    def inspect(cls, parameters_cell):
        """What `papermill --help-notebook` lists, and what papermill compares
        the given names with."""
        found = []
        for line in parameters_cell["source"].splitlines():
            match = PARAMETER.match(line)
            if match:
                found.append(
                    Parameter(
                        name=match["name"],
                        inferred_type_name=(match["type"] or "").strip() or "None",
                        default=match["value"],
                        help=match["help"] or "",
                    )
                )
        return found


papermill_translators.register("go", GoTranslator)


class Engine(NBClientEngine):
    """papermill's own engine. It is here so that papermill loads the module."""
