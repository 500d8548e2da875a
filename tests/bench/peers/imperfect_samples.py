#!/usr/bin/env python3
"""Makes sets of images that are imperfect in known ways, for the table of docs/results/images.md:

  imperfect_samples.py data_batch_1.bin FOLDER

Needs numpy and Pillow. The batch is one of CIFAR-10's binary files.
"""

import pathlib
import sys

import numpy
from PIL import Image, ImageFilter


def blurred(images, radius):
    return numpy.array(
        [numpy.array(Image.fromarray(image).filter(ImageFilter.GaussianBlur(radius))) for image in images])


def rounded(images):
    return numpy.clip(numpy.rint(images), 0, 255).astype(numpy.uint8)


def main():
    if len(sys.argv) != 3:
        raise SystemExit(__doc__.strip())
    rows = numpy.fromfile(sys.argv[1], numpy.uint8).reshape(-1, 3073)
    labels = rows[:, 0]
    images = rows[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    random = numpy.random.default_rng(0)
    half = random.random(len(images)) < 0.5
    kept = (labels < 5) | (random.random(len(images)) < 1 / 3)
    noisy = rounded(images + random.normal(0, 8, images.shape))
    sets = {
        "classes": images[kept],
        "often": numpy.concatenate([images, images[labels == 3], images[labels == 3]]),
        "blurhalf": numpy.where(half[:, None, None, None], blurred(images, 0.8), images),
        "bright": rounded(images + 20.0),
        "noise": noisy,
        "blurclasses": blurred(images, 0.5)[kept],
        "noiseclasses": noisy[kept],
    }
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for name, values in sets.items():
        numpy.savez(folder / f"{name}.npz", arr_0=numpy.ascontiguousarray(values))


if __name__ == "__main__":
    main()
