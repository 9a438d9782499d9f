"""Turns the classes of formats.py into spec/schema.json, with which editors check and complete the files of spec/.

An editor sees keys and types; what the values mean is checked by `python -m codegen` alone.
"""

import json

from pydantic.json_schema import models_json_schema

from .formats import DataTypesFormat, ExampleTensorFormat, LevelsFormat, OperatorFormat, TensorFormat

FILES = {"operator": OperatorFormat, "levels": LevelsFormat, "data_types": DataTypesFormat, "rules": TensorFormat}


def schema() -> dict:
    """The schema of any file of spec/: the key that a file cannot do without tells which one it is."""
    models = [(model, "validation") for model in (*FILES.values(), ExampleTensorFormat)]
    _, definitions = models_json_schema(models, ref_template="#/$defs/{model}")
    definitions["$defs"]["ExampleFormat"]["properties"]["desc"]["additionalProperties"] = {
        "anyOf": [{"type": "integer"}, {"$ref": "#/$defs/ExampleTensorFormat"}]
    }
    choice: dict = {"required": list(FILES), "description": "spec/README.md says what the files hold."}
    for key, model in reversed(FILES.items()):
        choice = {"if": {"required": [key]}, "then": {"$ref": f"#/$defs/{model.__name__}"}, "else": choice}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "dmlcore specification",
            "type": "object", **choice, "$defs": _plain(definitions["$defs"])}  # fmt: skip


def _plain(node):
    """Without the titles that pydantic makes of every name, and without null, which YAML files here never say."""
    if isinstance(node, list):
        return [_plain(item) for item in node]
    if not isinstance(node, dict):
        return node
    if "anyOf" in node and {"type": "null"} in node["anyOf"]:
        (one,) = [option for option in node["anyOf"] if option != {"type": "null"}]
        node = {**{k: v for k, v in node.items() if k not in ("anyOf", "default")}, **one}
    titled = isinstance(node.get("title"), str)
    return {k: _plain(v) for k, v in node.items() if not (k == "title" and titled)}


def schema_text() -> str:
    return json.dumps(schema(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"
