"""Model files that were changed on purpose, with a checksum that fits."""

import json

from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from skcw.io.model_files import CHECKSUM, HEADER, seal


def rewrite(path, target, change):
    """Copy a model; ``change(header, arrays)`` changes both as they are in the file."""
    with safe_open(path, framework="np") as file:
        header = json.loads(file.metadata()[HEADER])
    arrays = load_file(path)
    change(header, arrays)
    write(target, json.dumps(header), arrays)
    return target


def write(path, text, arrays):
    """Write a model whose header is any text."""
    save_file(arrays, path, metadata={HEADER: text, CHECKSUM: "0" * 16})
    seal(path)
