"""Writes the types of all options from the JSON Schema of study files.

    python python/generate.py

The schema is docs/study.schema.json, which `bo schema` prints. A test fails if the written
files are out of date.
"""

from __future__ import annotations

import json
import keyword
from collections.abc import Collection
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent
SCHEMA = ROOT.parent / "docs" / "study.schema.json"
OPTIONS = ROOT / "src" / "functionspace_bo" / "_options.py"

HEAD = '''"""The options of a study by their names in the study file.

Written by python/generate.py from the schema of study files. Do not edit.
"""

# ruff: noqa: E501

from __future__ import annotations

from typing import TYPE_CHECKING

'''


def main() -> None:
    """Writes the files."""
    OPTIONS.write_text(options(json.loads(SCHEMA.read_text())))


def options(schema: dict[str, Any]) -> str:
    """Returns the text of the module with all options."""
    properties = schema["properties"]
    default = members(properties["surrogate"])[0]["properties"]
    beliefs = {key: s for key, s in default.items() if key != "name"}
    objective = properties["objectives"]["items"]["properties"]
    shown = {key: s for key, s in properties.items() if key not in ("version", "parameters")}
    lines = [HEAD.rstrip(), ""]
    lines += names(
        "OBJECTIVE",
        {k for k in objective if k != "name"},
        "Keys of the objective that are also options.",
    )
    lines += names(
        "SETTINGS", set(beliefs), "Settings of the surrogate model that are also options."
    )
    lines += ["if TYPE_CHECKING:", "    from collections.abc import Mapping, Sequence"]
    lines += [
        "    from typing import Any, Literal, TypedDict, Union",
        "",
        "    from typing_extensions import Required",
    ]
    for key in ("surrogate", "acquisition"):
        lines += component(key, properties[key])
    lines += settings(
        "Maximizer",
        properties["maximizer"]["properties"],
        "Settings of the maximisation of the acquisition function.",
    )
    lines += settings(
        "Objective", objective, "The number to optimise and the direction.", required={"name"}
    )
    types = {
        "surrogate": "Surrogate",
        "acquisition": "Acquisition",
        "maximizer": "Maximizer",
        "objectives": "Sequence[Objective]",
        "defaults": "Mapping[str, Any]",
    }
    lines += ["", "    class Options(TypedDict, total=False):"]
    lines += [
        '        """Options of a study and settings of the surrogate model."""',
        "",
    ]
    descriptions = {"goal": "minimize or maximize", "noise_free": "Equal points have equal values"}
    for key, s in {
        **shown,
        **{k: s for k, s in objective.items() if k != "name"},
        **beliefs,
    }.items():
        lines += [f"        {key}: {types.get(key) or annotation(s)}"]
        lines += [f'        """{sentence(s.get("description", descriptions.get(key, "")))}"""']
    return "\n".join(lines) + "\n"


def names(name: str, keys: set[str], text: str) -> list[str]:
    """Returns a constant with names."""
    listed = ", ".join(json.dumps(key) for key in sorted(keys))
    return ["", f"{name} = frozenset({{{listed}}})", f'"""{text}"""', ""]


def members(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the schemas of the named members of a component."""
    return [s for s in schema["oneOf"] if "properties" in s]


def component(key: str, schema: dict[str, Any]) -> list[str]:
    """Returns the types of a surrogate model or an acquisition function."""
    kind = key.capitalize()
    known = [s["properties"]["name"]["const"] for s in members(schema)]
    lines = ["", f"    {kind}Name = Literal[{', '.join(json.dumps(n) for n in known)}]"]
    classes = []
    for s in members(schema):
        properties = s["properties"]
        name = class_name(properties["name"]["const"]) + kind
        classes.append(name)
        text = properties["name"]["description"]
        lines += settings(name, properties, sentence(text), required=set(s.get("required", ())))
    return [*lines, "", f"    {kind} = Union[{kind}Name, {', '.join(classes)}]"]


def settings(
    name: str, properties: dict[str, Any], text: str, required: Collection[str] = ()
) -> list[str]:
    """Returns a TypedDict, in the functional form because keys have dashes."""
    lines = ["", f"    {name} = TypedDict(", f'        "{name}",', "        {"]
    for key, s in sorted(properties.items(), key=lambda item: item[0] != "name"):
        kind = annotation(s)
        lines.append(
            f"            {json.dumps(key)}: {f'Required[{kind}]' if key in required else kind},"
        )
    return [*lines, "        },", "        total=False,", "    )", f'    """{text}"""']


def annotation(schema: dict[str, Any]) -> str:
    """Returns the annotation of a value."""
    if "const" in schema:
        return f"Literal[{json.dumps(schema['const'])}]"
    if "enum" in schema:
        return f"Literal[{', '.join(json.dumps(v) for v in schema['enum'])}]"
    if "anyOf" in schema:
        return f"Union[{', '.join(annotation(s) for s in schema['anyOf'])}]"
    if schema.get("type") == "array":
        return f"Sequence[{annotation(schema['items'])}]"
    return {"number": "float", "integer": "int", "boolean": "bool", "string": "str"}.get(
        schema.get("type", ""), "Any"
    )


def sentence(text: str) -> str:
    """Returns a description with a full stop."""
    text = text.strip().replace("\\", "\\\\").replace('"', "'")
    return text + "." if text else ""


def class_name(name: str) -> str:
    """Returns the name of a class for the name of a method."""
    out = "".join(part.upper() if len(part) <= 3 else part.capitalize() for part in name.split("-"))
    return out + "_" if keyword.iskeyword(out) else out


if __name__ == "__main__":
    main()
