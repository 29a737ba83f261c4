"""A small image data set of JPEG files: ten classes of drawn shapes, made once and the same every time."""

import pathlib
import random

from PIL import Image, ImageDraw

CLASSES = 10
SIZE = 192


def make(folder, samples, seed):
    """Draws `samples` images into `folder` unless they are there; the class is the first part of a file's name."""
    folder = pathlib.Path(folder)
    done = folder / "complete"
    made = f"{samples} of {SIZE}"
    if done.exists() and done.read_text() == made:
        return sorted(folder.glob("*.jpg"))
    folder.mkdir(parents=True, exist_ok=True)
    draws = random.Random(seed)
    for index in range(samples):
        label = index % CLASSES
        _draw(label, draws).save(folder / f"{label}_{index:05d}.jpg", quality=92)
    done.write_text(made)
    return sorted(folder.glob("*.jpg"))


def label_of(path):
    return int(path.name.split("_")[0])


def _draw(label, draws):
    """Five shapes, each filled or as an outline, somewhere on a noisy ground."""
    shape, filled = label // 2, label % 2 == 0
    image = Image.effect_noise((SIZE, SIZE), 40).convert("RGB")
    pen = ImageDraw.Draw(image)
    x, y, r = draws.randint(60, 132), draws.randint(60, 132), draws.randint(34, 58)
    colour = tuple(draws.randint(120, 255) for _ in range(3))
    style = {"fill": colour} if filled else {"outline": colour, "width": 5}
    box = (x - r, y - r, x + r, y + r)
    if shape == 0:
        pen.ellipse(box, **style)
    elif shape == 1:
        pen.rectangle(box, **style)
    elif shape == 2:
        pen.polygon([(x, y - r), (x + r, y + r), (x - r, y + r)], **style)
    elif shape == 3:
        pen.pieslice(box, 30, 300, **style)
    else:
        pen.regular_polygon((x, y, r), 6, rotation=draws.randint(0, 59), **style)
    return image
