"""A fit in one netCDF file: arrays, one JSON text for the rest, and a checksum over the whole file. No pickle.

The checksum stands in the file itself: it is computed with its own place filled with zeros. Files are written beside
their place and moved there when complete, so that there is never half a file.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
from collections.abc import Mapping
from itertools import islice
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sprite.core.errors import InputError
from sprite.core.memory import refuse_beyond_memory
from sprite.data.writing import replacing
from sprite.result.contents import contents_of, fit_from

if TYPE_CHECKING:
    from sprite.result.fit import Fit

FORMAT = "sprite-fit"
FORMAT_VERSION = 1
_HDF5 = b"\x89HDF\r\n\x1a\n"
_MARK = b"sprite-sha256:"
_SUM = re.compile(re.escape(_MARK) + rb"[0-9a-f]{64}")
_UNSUMMED = _MARK + b"0" * 64
_CANDIDATES = 200
_COMPRESSED = 4096  # bytes from which on an array is compressed


def save(fit: Fit, path: str | os.PathLike[str]) -> None:
    """Write a fit; the file appears complete or not at all."""
    target = Path(path)
    if not target.parent.is_dir():
        raise InputError("there is no such folder", file=str(target.parent), remedy="Make it first, or save elsewhere")
    data = _sealed(_written(*contents_of(fit)))
    with replacing(target) as temporary:
        temporary.write_bytes(data)


def load(path: str | os.PathLike[str]) -> Fit:
    """Read a fit that `Fit.save` wrote.

    Raises `InputError` for files that are not ours, are damaged or incomplete, or of another format than this version
    of sprite knows.
    """
    file = Path(path)
    if not file.is_file():
        raise InputError(
            "there is no such file", file=str(file), remedy="Check the name and the folder; `sprite fit` writes one"
        )
    try:
        refuse_beyond_memory(file.stat().st_size, "the file", str(file))
        data = file.read_bytes()
        _check_seal(data, file)
        return fit_from(*_read(data, file))
    except InputError as error:
        raise InputError(error.problem, file=str(file), found=error.found, remedy=error.remedy) from None
    except (OSError, KeyError, IndexError, TypeError, ValueError, RuntimeError) as error:
        raise InputError(
            f"this file cannot be read as a fit ({type(error).__name__}: {error})",
            file=str(file),
            remedy="Save the fit again",
        ) from error


def _written(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """The file, made in memory: HDF5 does not take a full disk well."""
    import h5netcdf  # type: ignore[import-untyped]

    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    stream = io.BytesIO()
    with h5netcdf.File(stream, "w") as file:
        file.attrs["title"] = "A fit of the Python package sprite"
        file.attrs["format"] = FORMAT
        file.attrs["format_version"] = FORMAT_VERSION
        unsummed = np.frombuffer(_UNSUMMED, dtype=np.uint8)
        for key, array in {"checksum": unsummed, "header": text, **arrays}.items():
            if not array.size:  # netCDF has no empty dimensions; the header knows the shape
                continue
            dims = tuple(f"{key}_{axis}" for axis in range(array.ndim))
            for dim, size in zip(dims, array.shape, strict=True):
                file.dimensions[dim] = size
            packed = {"compression": "gzip", "compression_opts": 1, "shuffle": True}
            stored = array.astype(np.int8) if array.dtype == bool else array
            file.create_variable(key, dims, data=stored, **(packed if array.nbytes >= _COMPRESSED else {}))
    return stream.getvalue()


def _read(data: bytes, path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    import h5py  # type: ignore[import-untyped]

    with h5py.File(io.BytesIO(data), "r") as file:  # h5netcdf would complain of a forged file even after it is refused
        _check_format(file.attrs, path)
        found = {key: file[key] for key in file}
        claimed = sum(each.dtype.itemsize * prod(each.shape) for each in found.values())
        refuse_beyond_memory(claimed, "what the file claims to hold", str(path))
        header = json.loads(bytes(np.asarray(found["header"][...], np.uint8)))
        arrays = {}
        for key, (kind, shape) in header["arrays"].items():
            dtype, shape = np.dtype(kind), tuple(map(int, shape))
            if prod(shape) and (dtype.kind not in "biuf" or found[key].shape != shape):
                raise ValueError(f"{key} is not the array that the header describes")
            arrays[key] = np.asarray(found[key][...]).astype(dtype) if prod(shape) else np.empty(shape, dtype)
    return header, arrays


def _check_format(attributes: Mapping[str, Any], path: Path) -> None:
    if attributes.get("format") != FORMAT:
        raise _not_ours(path)
    version = int(np.ravel(attributes["format_version"])[0])
    if version != FORMAT_VERSION:
        newer = version > FORMAT_VERSION
        raise InputError(
            f"this fit was saved in format {version}, and this version of sprite reads format {FORMAT_VERSION}",
            file=str(path),
            remedy=f"{'Update sprite' if newer else 'Install the version that saved it'}, or fit and save again with "
            "this one",
        )


def _sealed(data: bytes) -> bytes:
    """The file with its checksum where the zeros are; not at the first zeros found, which a label may hold too."""
    import h5py

    with h5py.File(io.BytesIO(data), "r") as file:
        at = file["checksum"].id.get_offset() + len(_MARK)
    digest = hashlib.sha256(data).hexdigest().encode()
    return data[:at] + digest + data[at + len(digest) :]


def _check_seal(data: bytes, path: Path) -> None:
    """Refuse what is not ours or not whole before anything else looks into it."""
    if not data.startswith(_HDF5) or not _SUM.search(data):
        raise _not_ours(path)
    # A label may look like a checksum, too: whichever fits is the one.
    for found in islice(_SUM.finditer(data), _CANDIDATES):
        blank = data[: found.start()] + _UNSUMMED + data[found.end() :]
        if found[0] == _MARK + hashlib.sha256(blank).hexdigest().encode():
            return
    raise InputError(
        "this file is damaged or incomplete: its checksum does not fit its contents",
        file=str(path),
        remedy="Copy it again from where it came from, or fit and save again",
    )


def _not_ours(path: Path) -> InputError:
    return InputError(
        "this is not a fit saved by sprite, or it is cut short",
        file=str(path),
        remedy="Give a file that `sprite fit` or fit.save(path) has written; a file of answers is fitted first: "
        "sprite fit ANSWERS --key KEY -o fit.nc",
    )
