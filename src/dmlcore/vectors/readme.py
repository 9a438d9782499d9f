"""The README.md that lies in every folder of vectors: what is in it, and how to try another implementation with it."""

from .._generated.tables import LEVELS

__all__ = ["readme"]


def readme(manifest: dict) -> str:
    """The text for a manifest."""
    levels = {level.dml_name: level for level in LEVELS}
    rows = [f"| {name} | {levels[name].directml} | {levels[name].windows or '-'} |" for name in manifest["feature_levels"]]
    combinations = manifest["data_type_combinations"]
    covered = ", ".join(f"{done} of {there} at {level}" for level, (done, there) in combinations.items()) or "none"
    parts = [
        f"# Conformance vectors for DML_OPERATOR_{manifest['operator']}",
        f"Made by {manifest['made_by']} with seed {manifest['seed']}; the same version and seed give the same bytes.",
        f"- {len(manifest['valid'])} valid vectors: a descriptor, inputs, and the outputs that it must give, bit for bit.\n"
        f"- {len(manifest['invalid'])} invalid descriptors, each with the rule that it breaks.\n"
        f"- Combinations of data types among the valid ones: {covered}.\n"
        f"- Rules that are broken: {len(manifest['rules'])}.",
        "`manifest.json` lists all of them: `feature_level` is the level that a vector is meant for, `minimum_feature_level` "
        "the lowest one that accepts its descriptor (`null`: none does). Of an invalid one, `breaks` is the rule it is "
        "there for and `rules` are all rules that it breaks. With `defined_rows`, only so many rows of that output are "
        "defined, and only they are to be compared.",
        _LAYOUT[manifest["format"]],
        "## With dmlcore\n\n```\ndmlcore verify .\n```\n\ncomputes every vector with dmlcore and checks every invalid descriptor.",
        _USE[manifest["format"]],
        "## Levels\n\nDirectML is backward compatible: a vector for one level holds at every later one too. An invalid descriptor "
        "is refused at its `feature_level`; a later DirectML may accept it, from its `minimum_feature_level` on. So use "
        "those with `null` everywhere, and the others only with a DirectML that has exactly that level.\n\n"
        "| level | DirectML | Windows |\n| --- | --- | --- |\n" + "\n".join(rows),
        "## What the vectors avoid\n\nOnly what DirectML documents: no index out of range, no element that a scatter writes "
        "twice, no NaN and no denormal numbers. Some tensors have strides, with gaps or repeated elements.",
    ]
    return "\n\n".join(parts) + "\n"


_LAYOUT = {
    "dxdispatch": "| path | what it is |\n| --- | --- |\n"
    "| `valid/<id>.json` | a DxDispatch model that runs the operator once and writes its outputs |\n"
    "| `valid/<id>.<member>.npy` | the buffer of an input |\n"
    "| `expected/<id>.<member>.npy` | an output as it must be |\n"
    "| `invalid/<id>.json` | a DxDispatch model whose dispatchable must be refused |",
    "npz": "| path | what it is |\n| --- | --- |\n"
    "| `valid/<id>.json` | the descriptor |\n"
    "| `valid/<id>.npz` | inputs and expected outputs by the names of their members, in the descriptor's sizes |\n"
    "| `invalid/<id>.json` | a descriptor that must be refused |",
    "onnx": "| path | what it is |\n| --- | --- |\n"
    "| `valid/<id>/model.onnx` | a model of one node, in natural ranks |\n"
    "| `valid/<id>/test_data_set_0/*.pb` | its inputs and its output |\n"
    "| `invalid/<id>.json` | a DirectML descriptor that must be refused; ONNX has no descriptors |\n\n"
    "Vectors whose data types ONNX does not take are left out; `skipped` in the manifest names them.",
}

_USE = {
    "dxdispatch": "## On Windows, with DirectML itself\n\n"
    "DxDispatch is part of Microsoft's DirectML repository. In this folder, in PowerShell:\n\n"
    "```\nGet-ChildItem valid\\*.json | ForEach-Object { dxdispatch.exe $_.FullName --input_path valid --output_path out }\n```\n\n"
    "writes every output into `out`; copy that folder to where dmlcore is, if need be, and compare:\n\n"
    "```\ndmlcore verify . --outputs out\n```\n\n"
    "Each of the invalid models must fail (E_INVALIDARG, or an error of the parser for what no JSON number can be):\n\n"
    "```\nGet-ChildItem invalid\\*.json | ForEach-Object { dxdispatch.exe $_.FullName; if ($LASTEXITCODE -eq 0) { \"accepted: $($_.Name)\" } }\n```\n\n"
    "## With a back end of your own\n\n"
    "Read `desc` of each manifest entry, bind the buffers, run, and write each output as `out/<id>.<member>.npy`, in the "
    "descriptor's sizes or as the whole buffer; then compare as above.",
    "npz": "## With a back end of your own\n\n"
    "```python\nimport json, numpy as np\n\nfor case in json.load(open(\"manifest.json\"))[\"valid\"]:\n"
    "    arrays = np.load(f\"valid/{case['id']}.npz\")\n"
    "    desc = case[\"desc\"]              # InputTensor, ..., by DirectML's names\n"
    "    ...                              # run it, compare with arrays[\"OutputTensor\"]\n```\n\n"
    "Where `desc` has Strides, the array is to be laid out by them; the .npz holds it packed. Outputs may also be written as "
    "`out/<id>.<member>.npy` and compared with `dmlcore verify . --outputs out`.",
    "onnx": "## With a back end of your own\n\n"
    "The folders below `valid` have the form of ONNX's own node tests: give them to whatever runs those, for example\n\n"
    "```python\nimport onnx, onnxruntime\nfrom onnx import numpy_helper\n\n"
    "session = onnxruntime.InferenceSession(\"valid/<id>/model.onnx\")\n```",
}
