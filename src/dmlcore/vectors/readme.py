"""The README.md that lies in every folder of vectors: what is in it, and how to try another implementation with it."""

from .._generated.tables import LEVELS

__all__ = ["readme"]


def readme(manifest: dict) -> str:
    """The text for a manifest."""
    levels = {level.dml_name: level for level in LEVELS}
    told = [levels[name] for name in manifest["feature_levels"]]
    pairs = manifest["data_type_combinations"].items()
    return _TEXT.format(
        operator=manifest["operator"],
        made_by=manifest["made_by"],
        seed=manifest["seed"],
        valid=len(manifest["valid"]),
        invalid=len(manifest["invalid"]),
        covered=", ".join(f"{done} of {there} at {level}" for level, (done, there) in pairs) or "none",
        rules=len(manifest["rules"]),
        layout=_LAYOUT[manifest["format"]],
        use=_USE[manifest["format"]],
        levels="\n".join(f"| {level.dml_name} | {level.directml} | {level.windows or '-'} |" for level in told),
    )


_TEXT = """\
# Conformance vectors for DML_OPERATOR_{operator}

Made by {made_by} with seed {seed}; the same version and seed give the same bytes.

- {valid} valid vectors: a descriptor, inputs, and the outputs that it must give, bit for bit.
- {invalid} invalid descriptors, each with the rule that it breaks.
- Combinations of data types among the valid ones: {covered}.
- Rules that are broken: {rules}.

`manifest.json` lists all of them. `feature_level` is the level that a vector is meant for, `minimum_feature_level` the
lowest one that accepts its descriptor (`null`: none does). Of an invalid one, `breaks` is the rule it is there for, and
`rules` are all rules that it breaks. With `defined_rows`, only so many rows of that output are defined, and only they
are to be compared.

{layout}
## With dmlcore

```
dmlcore verify .
```

computes every vector with dmlcore and checks every invalid descriptor.

{use}
## Levels

DirectML is backward compatible: a vector for one level holds at every later one too. An invalid descriptor is refused
at its `feature_level`; a later DirectML may accept it, from its `minimum_feature_level` on. So those with `null` are
refused everywhere, the others only by a DirectML that is older than their `minimum_feature_level`.

| level | DirectML | Windows |
| --- | --- | --- |
{levels}

## What the vectors avoid

Only what DirectML documents is here: no index out of range, no element that a scatter writes twice, no NaN and no
denormal numbers. Some tensors have strides, with gaps or repeated elements.
"""

_LAYOUT = {
    "dxdispatch": """\
| path | what it is |
| --- | --- |
| `valid/<id>.json` | a DxDispatch model that runs the operator once and writes its outputs |
| `valid/<id>.<member>.npy` | the buffer of an input |
| `expected/<id>.<member>.npy` | an output as it must be |
| `invalid/<id>.json` | a DxDispatch model whose dispatchable must be refused |
""",
    "npz": """\
| path | what it is |
| --- | --- |
| `valid/<id>.json` | the descriptor |
| `valid/<id>.npz` | inputs and expected outputs by the names of their members, in the descriptor's sizes |
| `invalid/<id>.json` | a descriptor that must be refused |
""",
    "onnx": """\
| path | what it is |
| --- | --- |
| `valid/<id>/model.onnx` | a model of one node, in natural ranks |
| `valid/<id>/test_data_set_0/*.pb` | its inputs and its output |
| `invalid/<id>.json` | a DirectML descriptor that must be refused; ONNX has no descriptors |

Vectors whose data types ONNX does not take are left out; `skipped` in the manifest names them.
""",
}

_USE = {
    "dxdispatch": """\
## On Windows, with DirectML itself

DxDispatch is part of Microsoft's DirectML repository. In this folder, in PowerShell,

```
Get-ChildItem valid\\*.json | ForEach-Object { dxdispatch.exe $_.FullName --input_path valid --output_path out }
```

writes every output into `out`. Copy that folder to where dmlcore is, if need be, and compare:

```
dmlcore verify . --outputs out
```

Each of the invalid models must fail, with E_INVALIDARG or an error of DxDispatch's parser:

```
Get-ChildItem invalid\\*.json | ForEach-Object {
  dxdispatch.exe $_.FullName
  if ($LASTEXITCODE -eq 0) { "accepted: $($_.Name)" }
}
```

## With a back end of your own

Read `desc` of each manifest entry, bind the buffers, run, and write each output as `out/<id>.<member>.npy`, in the
descriptor's sizes or as the whole buffer; then compare as above.
""",
    "npz": """\
## With a back end of your own

```python
import json
import numpy as np

for case in json.load(open("manifest.json"))["valid"]:
    arrays = np.load(f"valid/{case['id']}.npz")
    desc = case["desc"]  # InputTensor and the other members, by DirectML's names
    ...  # run it, compare with arrays["OutputTensor"]
```

Where `desc` has Strides, the array is to be laid out by them; the .npz holds it packed. Outputs may also be written as
`out/<id>.<member>.npy` and compared with `dmlcore verify . --outputs out`.
""",
    "onnx": """\
## With a back end of your own

The folders below `valid` have the form of ONNX's own node tests; whatever runs those runs these. By hand:

```python
import onnx
import onnxruntime

session = onnxruntime.InferenceSession("valid/<id>/model.onnx")
inputs = onnx.load_tensor("valid/<id>/test_data_set_0/input_0.pb")
```
""",
}
