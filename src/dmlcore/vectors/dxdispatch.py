"""Turns vectors into DxDispatch models: one JSON file each, with the buffers of its inputs beside it as .npy files.

A valid model dispatches the operator and writes its outputs; an invalid one has only the dispatchable, which cannot be
created.
"""

import numpy as np

from ..graph import desc_to_json
from .cases import Invalid, Valid
from .natural import layout, members

__all__ = ["invalid_model", "output_file", "valid_model"]

UNWRITTEN = 85  # what outputs hold before: an element that the operator does not write shows


def output_file(case_id: str, member: str) -> str:
    """The file that a model writes an output to."""
    return f"{case_id}.{member}.npy"


def valid_model(case: Valid) -> tuple[dict, dict[str, np.ndarray]]:
    """(model, input files): the model dispatches the operator once and writes every output."""
    resources, files, commands = {}, {}, []
    for name, tensor in members(case.desc, "input").items():
        file = f"{case.id}.{name}.npy"
        files[file] = layout(case.inputs[name], tensor)
        resources[name] = {"initialValues": {"sourcePath": file}}
    for name, tensor in members(case.desc, "output").items():
        count = layout(np.zeros(tensor.sizes, tensor.dtype), tensor).size
        initial = {"valueCount": count, "value": UNWRITTEN}
        resources[name] = {"initialValuesDataType": tensor.data_type, "initialValues": initial}
        write = {"type": "writeFile", "resource": name, "targetPath": output_file(case.id, name)}
        commands.append(write | ({"dimensions": list(tensor.sizes)} if tensor.strides is None else {}))
    dispatch = {"type": "dispatch", "dispatchable": case.desc.operator, "bindings": {name: name for name in resources}}
    model = {
        "resources": resources,
        "dispatchables": {case.desc.operator: desc_to_json(case.desc)},
        "commands": [dispatch, *commands],
    }
    return model, files


def invalid_model(case: Invalid) -> dict:
    """A model whose dispatchable must be refused."""
    return {"resources": {}, "dispatchables": {case.desc.operator: desc_to_json(case.desc)}, "commands": []}
