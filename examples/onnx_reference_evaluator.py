"""A real model in ONNX's own evaluator, without and with dmlcore: SwiftF0, which hears the pitch of a voice.

The model comes from its package (116 kB): pip install swift-f0 'dmlcore[onnx]'. Its heavy nodes (Conv) are none of
dmlcore's business, so look at the last line for what the indexing nodes gain.
"""

import importlib.util
import sys
import time
from pathlib import Path

import numpy as np

RATE, SECONDS = 16000, 1.0

try:
    import onnx
    from onnx.reference import ReferenceEvaluator
    from onnx.reference.op_run import OpRun

    from dmlcore.onnx import OPS
except ImportError as error:
    sys.exit(f"{error}\nThis example needs: pip install 'dmlcore[onnx]' swift-f0")

INDEXING = {operator.__name__ for operator in OPS}


class GatherElements(OpRun):
    """A stand-in for ONNX's, which takes neither this model's axis (-1) nor more than 64 places along it."""

    op_domain = ""

    def _run(self, data, indices, axis=0):
        return (np.take_along_axis(data, indices, axis),)


def main() -> None:
    package = importlib.util.find_spec("swift_f0")
    if package is None:
        sys.exit("The package with the model is missing: pip install swift-f0")
    model = onnx.load(Path(package.origin).with_name("model.onnx"))
    nodes = [node.op_type for node in model.graph.node if node.op_type in INDEXING]
    print(f"SwiftF0: {len(model.graph.node)} nodes; indexing: {', '.join(nodes)}")

    true_pitch, audio = gliding_tone()
    feeds = {"audio": audio[None], "fmin": np.float32(46.875), "fmax": np.float32(2093.75)}

    try:
        ReferenceEvaluator(model).run(None, feeds)
    except Exception as error:
        print(f"ONNX's evaluator alone stops: {type(error).__name__}: {error}")
        print("so NumPy's take_along_axis stands in for its GatherElements in what follows")

    without, with_ops = timed([ReferenceEvaluator(model, new_ops=ops) for ops in ([GatherElements], OPS)], feeds)
    same = all(np.array_equal(a, b, equal_nan=True) for a, b in zip(without[0], with_ops[0], strict=True))
    heard = with_ops[0][0][0]
    error = np.median(np.abs(heard - true_pitch[: len(heard) * 256 : 256][: len(heard)]))
    print(
        f"\n{len(heard)} frames of a tone gliding from 220 to 440 Hz; median error of the pitch heard: {error:.1f} Hz"
    )
    print(f"outputs without and with dmlcore: {'equal, bit for bit' if same else 'DIFFERENT'}\n")
    print(f"{'':24}{'without':>12}{'with':>12}")
    print(f"{'whole model':24}{without[1] * 1e3:9.1f} ms{with_ops[1] * 1e3:9.1f} ms")
    print(f"{'its indexing nodes':24}{without[2] * 1e3:9.2f} ms{with_ops[2] * 1e3:9.2f} ms")
    sys.exit(0 if same else 1)


def gliding_tone():
    """(the pitch at every sample, the samples): a fundamental with two overtones, an octave upwards."""
    pitch = 220 * 2 ** np.linspace(0, 1, int(RATE * SECONDS))
    phase = 2 * np.pi * np.cumsum(pitch) / RATE
    return pitch, (np.sin(phase) / 2 + np.sin(2 * phase) / 4 + np.sin(3 * phase) / 8).astype(np.float32)


def timed(sessions, feeds, repeats: int = 5):
    """(outputs, seconds for all, seconds in the indexing nodes) of each session: the best of a few turns in turn."""
    spent = [0.0]
    for session in sessions:
        for node in session.rt_nodes_:
            if node.op_type in INDEXING:
                node.run = stopwatch(node.run, spent)
    results = [(None, np.inf, np.inf)] * len(sessions)
    for _ in range(repeats):
        for i, session in enumerate(sessions):
            spent[0] = 0.0
            start = time.perf_counter()
            outputs = session.run(None, feeds)
            whole = time.perf_counter() - start
            results[i] = outputs, min(results[i][1], whole), min(results[i][2], spent[0])
    return results


def stopwatch(run, spent):
    """The same function, adding up the time it takes."""

    def wrapped(*args, **kwargs):
        start = time.perf_counter()
        try:
            return run(*args, **kwargs)
        finally:
            spent[0] += time.perf_counter() - start

    return wrapped


if __name__ == "__main__":
    main()
