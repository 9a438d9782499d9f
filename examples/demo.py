"""What dmlcore does, on real data: tensors recorded from two models, a photograph, and a descriptor that a feature level
refuses. `make demo` runs it; it ends with 1 if a result is not the recorded one.
"""

import hashlib
import statistics
import sys
import time
from pathlib import Path

import numpy as np

import dmlcore

HERE = Path(__file__).resolve().parent
OUTPUT = HERE / "output"


def main() -> int:
    info = dmlcore.build_info()
    built = f"{info['compiler']}, {info['isa']} loops, {info['threads']} threads"
    print(f"\ndmlcore {info['version']}: {built}; NumPy {np.__version__}")
    same = recorded_models()
    photograph()
    feature_level()
    return 0 if same else 1


# 1. Recorded tensors ---------------------------------------------------------------------------------------------------


def recorded_models() -> bool:
    """Runs each operator on what a model fed to such a node, and compares with what the node answered."""
    heading("1. Tensors recorded from real models")
    minilm, swift = np.load(HERE / "data/minilm.npz"), np.load(HERE / "data/swift_f0.npz")
    ids, table = minilm["token_ids"], embedding_table()
    mask, at = minilm["mask"], minilm["mask_indices"]
    pitch, peaks = swift["pitch"], swift["pitch_indices"]
    frames, places, updates = swift["frames"], swift["frame_indices"], swift["frame_updates"]

    def overwrite():
        result = frames.copy()
        result[places] = updates
        return result

    rows = [
        row(
            "gather_nd",
            f"MiniLM looks up {ids.size} tokens in a table of {table.shape[0]} x {table.shape[1]}",
            lambda n: dmlcore.gather_nd(table, ids[..., None], num_threads=n),
            lambda: np.take(table, ids, axis=0),
            lambda result: sha256(result) == "6bbf4740cfd181fad1730b4f87b34fa3764b29eaed82523b49a1afdcc4c89283",
        ),
        row(
            "gather_nd",
            f"MiniLM's GatherND node picks {at[..., 0].size} flags of its attention mask",
            lambda n: dmlcore.gather_nd(mask, at, num_threads=n),
            lambda: mask[at[..., 0], at[..., 1]],
            lambda result: np.array_equal(result, minilm["mask_gathered"]),
        ),
        row(
            "nonzero_coordinates",
            f"the tokens among {ids.size} that are no padding: where the mask is set",
            lambda n: dmlcore.nonzero_coordinates(ids, num_threads=n),
            lambda: np.argwhere(ids),
            lambda result: np.array_equal(result, np.argwhere(mask)),
        ),
        row(
            "gather_elements",
            f"a pitch tracker's GatherElements node picks {peaks.size} of {pitch.size} scores",
            lambda n: dmlcore.gather_elements(pitch, peaks, axis=-1, num_threads=n),
            lambda: np.take_along_axis(pitch, peaks, axis=-1),
            lambda result: np.array_equal(result, swift["pitch_gathered"]),
        ),
        row(
            "scatter_nd",
            f"its scatter writes {updates.size} samples into a copy of {frames.size}",
            lambda n: dmlcore.scatter_nd(frames, places[:, None], updates, num_threads=n),
            overwrite,
            lambda result: np.array_equal(result, swift["frames_scattered"]),
        ),
    ]
    threads = dmlcore.get_num_threads()
    print(f"  {'':<20} {'result':>11} {'1 thread':>11} {f'{threads} threads':>11} {'NumPy':>11}")
    for operator, text, same, (one, many, numpy) in rows:
        result = "as recorded" if same else "DIFFERENT"
        print(f"  {operator:<20} {result:>11} {show(one):>11} {show(many):>11} {show(numpy):>11}")
        print(f"      {text}")
    print("\n  Medians of runs in turn, results allocated on both sides. Small work stays on one thread.")
    return all(same for _, _, same, _ in rows)


def row(operator, text, ours, theirs, compare):
    """(operator, text, whether the result is the recorded one, seconds for one thread, all threads, NumPy)"""
    same = compare(ours(None)) and compare(ours(1))
    return operator, text, same, medians([lambda: ours(1), lambda: ours(None), theirs])


def medians(calls, seconds: float = 1.0) -> list[float]:
    """Median time of each call; they take turns, so that a busy moment of the machine meets all of them."""
    times = [[] for _ in calls]
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times[0]) < 5:
        for call, spent in zip(calls, times, strict=True):
            start = time.perf_counter()
            call()
            spent.append(time.perf_counter() - start)
    return [statistics.median(spent) for spent in times]


def embedding_table() -> np.ndarray:
    """A table of MiniLM's size; the real one is too large to ship (data/README.md)."""
    n = np.arange(30522 * 384, dtype=np.uint64)
    u = n * np.uint64(2654435761) & np.uint64(0xFFFFFFFF)
    return ((u >> np.uint64(8)).astype(np.float32) / np.float32(2**24) - np.float32(0.5)).reshape(30522, 384)


def sha256(array: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()


# 2. A photograph -------------------------------------------------------------------------------------------------------


def photograph() -> None:
    """Turns the studio's blue backdrop behind Grace Hopper into a sunrise: find, gather, recolour, scatter."""
    heading("2. A photograph")
    from matplotlib.cbook import get_sample_data
    from PIL import Image

    with get_sample_data("grace_hopper.jpg") as file:
        before = np.asarray(Image.open(file).convert("RGB"))
    mask = backdrop(before)

    where = dmlcore.nonzero_coordinates(mask)  # (count, 2): row and column of each pixel
    pixels = dmlcore.gather_nd(before, where)  # (count, 3): their colours
    after = dmlcore.scatter_nd(before, where, sunrise(pixels, where, mask.shape))

    gap = np.full((before.shape[0], 16, 3), 250, np.uint8)
    OUTPUT.mkdir(exist_ok=True)
    path = OUTPUT / "sunrise.png"
    Image.fromarray(np.hstack([before, gap, after])).save(path)
    print(f"  nonzero_coordinates finds {len(where)} pixels of the blue backdrop among {mask.size},")
    print("  gather_nd fetches their colours, and scatter_nd puts a sunrise in their place.")
    print(f"  Before and after: {path.relative_to(HERE.parent)}")


def backdrop(image: np.ndarray) -> np.ndarray:
    """Which pixels are lit and blue, in the part of the picture where the backdrop hangs; flag and ribbons stay."""
    red, green, blue = np.moveaxis(image.astype(np.int16), -1, 0)
    mask = (blue > 105) & (blue - red > 14) & (blue - green > 4) & (green - red > -6)
    mask[:, :220] = False
    mask[460:] = False
    return mask


def sunrise(pixels: np.ndarray, where: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """The pixels in the colours of a morning sky; the weave of the backdrop stays visible, and so do soft edges."""
    y, x = (where / shape).T
    heights = [0.0, 0.3, 0.55, 0.8, 1.0]
    colours = np.array([(58, 44, 110), (146, 72, 130), (232, 110, 98), (255, 168, 92), (255, 214, 138)])
    sky = np.stack([np.interp(y, heights, channel) for channel in colours.T], axis=-1)
    glow = np.exp(-(((x - 1) * 0.9) ** 2 + (y - 0.62) ** 2) / 0.28**2)[:, None]
    sky += (np.array([255, 236, 190]) - sky) * glow * 0.75
    light = pixels @ np.array([0.299, 0.587, 0.114])
    weave = np.clip(light / np.interp(y, [0, 1], [150, 115]), 0.75, 1.2) ** 0.6
    blueness = np.clip((pixels[:, 2].astype(float) - pixels[:, 0] - 14) / 45, 0, 1)[:, None]
    new = np.clip(sky * weave[:, None], 0, 255)
    return (pixels + (new - pixels) * blueness).astype(np.uint8)


# 3. A descriptor -------------------------------------------------------------------------------------------------------


def feature_level() -> None:
    """Checks a descriptor as a back end would, before it hands it to a device of an older feature level."""
    heading("3. A descriptor, checked at DML_FEATURE_LEVEL_2_1")
    desc = dmlcore.GatherNDDesc(
        input=dmlcore.TensorDesc("FLOAT32", (30522, 384)),
        indices=dmlcore.TensorDesc("INT64", (4096, 1)),
    )
    print("  The token look-up as GATHER_ND: FLOAT32 {30522, 384}, INT64 indices {4096, 1}.\n")
    for violation in dmlcore.check(desc, feature_level="2.1"):
        print("  " + str(violation).replace("\n", "\n  "))
    print(f"\n  The lowest level that takes it: {dmlcore.minimum_feature_level(desc).name}")


def heading(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}\n")


def show(seconds: float) -> str:
    return f"{seconds * 1e3:.2f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.1f} us"


if __name__ == "__main__":
    sys.exit(main())
