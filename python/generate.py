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
SURROGATES = ROOT / "src" / "functionspace_bo" / "surrogates.py"

# The names of the estimators, and the surrogate models of labels.
ESTIMATORS = {
    "gp": "GaussianProcess",
    "fsp-laplace": "FSPLaplace",
    "auto": "Auto",
    "gwi-net": "GWINet",
    "gwi-svgp": "GWISVGP",
    "laplace": "Laplace",
    "ensemble": "Ensemble",
    "dropout": "Dropout",
}
# The options of the method, which do not depend on the search space.
METHOD = ("acquisition", "design", "local", "maximizer", "surrogate", "warp")
# Descriptions of the keys of an objective, which are also options.
OWN = {
    "goal": "minimize or maximize",
    "noise_free": "Equal points have equal values",
    "noise_sd": "Standard deviation of the noise of a value, in its unit, if it is known",
    "standard_error": "Name of the reported number that is the standard error of a value",
}
CLASSIFIERS = ("gp", "fsp-laplace", "gfsvi", "laplace")

# The methods of an estimator. A setting of the same name has the suffix _setting.
METHODS = ("fit", "noise_std", "predict", "predict_proba", "sample_y", "score")

HEAD = '''"""The options of a study by their names in the study file.

Written by python/generate.py from the schema of study files. Do not edit.
"""

# ruff: noqa: E501

from __future__ import annotations

from typing import TYPE_CHECKING

'''


SURROGATES_HEAD = '''"""Surrogate models in the convention of scikit-learn.

The parameters of an estimator are the settings of the surrogate model in `bo`, with _ for -; None
is the default. A setting with the name of a method has the suffix _setting. This module needs NumPy
and scikit-learn. Written by python/generate.py from the schema of study files. Do not edit.
"""

# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Union

from ._estimator import Classifier, Regressor

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

'''


def main() -> None:
    """Writes the files."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    OPTIONS.write_text(options(schema))
    SURROGATES.write_text(surrogates(schema))


def options(schema: dict[str, Any]) -> str:
    """Returns the text of the module with all options."""
    properties = schema["properties"]
    default = members(properties["surrogate"])[0]["properties"]
    beliefs = {key: s for key, s in default.items() if key != "name"}
    objective = properties["objectives"]["items"]["properties"]
    shown = {key: s for key, s in properties.items() if key not in ("version", "parameters")}
    described = {
        **shown,
        **{k: s for k, s in objective.items() if k not in ("name", "reference")},
        **beliefs,
    }
    lines = [HEAD.rstrip(), ""]
    lines += names(
        "OBJECTIVE",
        {k for k in objective if k not in ("name", "reference")},
        "Keys of the objective that are also options.",
    )
    lines += names(
        "SETTINGS", set(beliefs), "Settings of the surrogate model that are also options."
    )
    lines += names(
        "METHOD", {*METHOD, *beliefs}, "Options of the method by which points are chosen."
    )
    lines += describe({k: s.get("description", OWN.get(k, "")) for k, s in described.items()})
    lines += ["if TYPE_CHECKING:", "    from collections.abc import Mapping, Sequence"]
    lines += [
        "    from os import PathLike",
        "    from typing import Any, Literal, TypedDict, Union",
        "",
        "    from pandas import DataFrame",
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
    (rule,) = members(properties["stop"])
    lines += settings(
        "Stop", rule["properties"], "Rule that stops poor trials early.", required=rule["required"]
    )
    types = {
        "surrogate": "Surrogate",
        "acquisition": "Acquisition",
        "maximizer": "Maximizer",
        "objectives": "Sequence[Union[str, Objective]]",
        "stop": f"Union[{annotation(properties['stop']['oneOf'][0])}, Stop]",
        "defaults": "Mapping[str, Any]",
        "optimum": "Mapping[str, Mapping[str, Any]]",
        "first": "Sequence[Mapping[str, Any]]",
        "earlier": "Union[str, PathLike[str], Sequence[Mapping[str, Any]], DataFrame]",
    }
    of_method = {k: s for k, s in described.items() if k in METHOD or k in beliefs}
    for name, base, text, keys in (
        (
            "MethodOptions",
            "TypedDict",
            "Options of the method by which points are chosen.",
            of_method,
        ),
        (
            "Options",
            "MethodOptions",
            "Options of a study and settings of the surrogate model.",
            described,
        ),
    ):
        lines += ["", f"    class {name}({base}, total=False):", f'        """{text}"""', ""]
        for key, s in keys.items():
            if not key.isidentifier():
                raise ValueError(f"option {key!r} is no Python name: rename it in bo")
            if base == "TypedDict" or key not in of_method:
                lines += [f"        {key}: {types.get(key) or annotation(s)}"]
                help_text = sentence(s.get("description", OWN.get(key, "")))
                lines += [f'        """{help_text}"""']
    return "\n".join(lines) + "\n"


def describe(texts: dict[str, str]) -> list[str]:
    """Returns the table of the descriptions of all options."""
    rows = [f"    {json.dumps(key)}: {json.dumps(sentence(t))}," for key, t in texts.items()]
    return ["", "HELP = {", *rows, "}", '"""The description of each option."""', ""]


def surrogates(schema: dict[str, Any]) -> str:
    """Returns the text of the module with the estimators."""
    lines = [SURROGATES_HEAD.rstrip(), ""]
    exported = []
    for s in members(schema["properties"]["surrogate"]):
        name = s["properties"]["name"]["const"]
        exported.append(ESTIMATORS.get(name, name.upper()))
        lines += estimator(exported[-1], "Regressor", s["properties"])
        if name in CLASSIFIERS:
            exported.append(exported[-1] + "Classifier")
            lines += estimator(exported[-1], "Classifier", s["properties"])
    listed = "".join(f"    {json.dumps(name)},\n" for name in sorted(exported))
    return "\n".join(lines) + f"\n\n__all__ = [\n{listed}]\n"


def estimator(name: str, base: str, properties: dict[str, Any]) -> list[str]:
    """Returns the class of an estimator."""
    described = properties["name"]["description"]
    parameters = {
        parameter_name(key): (annotation(s) + " | None", "None", s["description"])
        for key, s in properties.items()
        if key != "name"
    }
    own = {
        "inputs": (
            'Literal["raw", "unit", "zscore"]',
            '"unit"',
            "scaling of each input before the fit",
        ),
        "bounds": (
            "ArrayLike | None",
            "None",
            "bounds (min, max) of each input at which the model predicts; default the data",
        ),
        "random_state": ("int | None", "0", "seed of all random numbers"),
    }
    if base == "Regressor":
        own["outputs"] = ('Literal["raw", "zscore"]', '"zscore"', "scaling of the targets")
        own["noise_free"] = ("bool", "False", "the targets are exact")
    parameters.update(own)
    of = " for labels" if base == "Classifier" else ""
    lines = ["", f"class {name}({base}):", f'    """{sentence(described)[:-1]}{of}.', ""]
    lines += ["    Args:"]
    lines += [f"        {key}: {sentence(text)}" for key, (_, _, text) in parameters.items()]
    lines += ['    """', "", f"    _name = {json.dumps(properties['name']['const'])}", ""]
    lines += ["    def __init__(", "        self,", "        *,"]
    lines += [
        f"        {key}: {kind} = {default}," for key, (kind, default, _) in parameters.items()
    ]
    lines += ["    ) -> None:"]
    lines += [f"        self.{key} = {key}" for key in parameters]
    return [*lines, ""]


def parameter_name(setting: str) -> str:
    """Returns the name of the parameter of an estimator for a setting."""
    name = setting.replace("-", "_")
    return f"{name}_setting" if name in METHODS else name


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
