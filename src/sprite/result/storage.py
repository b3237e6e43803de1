"""A fit in one netCDF file: arrays, one JSON text for the rest, and a checksum over the whole file. No pickle.

The checksum stands in the file itself: it is computed with its own place filled with zeros. Files are written beside
their place and moved there when complete, so that there is never half a file.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sprite.core.errors import InputError
from sprite.result.contents import contents_of, fit_from

if TYPE_CHECKING:
    from sprite.result.fit import Fit

FORMAT = "sprite-fit"
FORMAT_VERSION = 1
_HDF5 = b"\x89HDF\r\n\x1a\n"
_MARK = b"sprite-sha256:"
_SUM = re.compile(re.escape(_MARK) + rb"[0-9a-f]{64}")
_UNSUMMED = _MARK + b"0" * 64
_COMPRESSED = 4096  # bytes from which on an array is compressed


def save(fit: Fit, path: str | os.PathLike[str]) -> None:
    """Write a fit; the file appears complete or not at all."""
    target = Path(path)
    if target.is_dir() or not target.parent.is_dir():
        problem = "this is a folder" if target.is_dir() else "there is no such folder"
        raise InputError(f"cannot save here: {problem}", file=str(target), remedy="Give the path of a file")
    header, arrays = contents_of(fit)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    os.close(handle)
    try:
        _write(name, header, arrays)
        _seal(Path(name))
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def load(path: str | os.PathLike[str]) -> Fit:
    """Read a fit that `Fit.save` wrote.

    Raises `InputError` for files that are not ours, are damaged or incomplete, or of a format newer than this version
    of sprite knows.
    """
    file = Path(path)
    if not file.is_file():
        raise InputError("there is no such file", file=str(file))
    _check_seal(file)
    try:
        header, arrays = _read(file)
        return fit_from(header, arrays)
    except InputError as error:
        raise InputError(error.problem, file=str(file), found=error.found, remedy=error.remedy) from None
    except (OSError, KeyError, TypeError, ValueError, RuntimeError) as error:
        raise InputError(
            f"this file cannot be read as a fit ({type(error).__name__}: {error})",
            file=str(file),
            remedy="Save the fit again",
        ) from error


def _write(name: str, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    import h5netcdf  # type: ignore[import-untyped]

    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    with h5netcdf.File(name, "w") as file:
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


def _read(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    import h5netcdf

    with h5netcdf.File(path, "r") as file:
        _check_format(dict(file.attrs), path)
        header = json.loads(bytes(np.asarray(file.variables["header"][...], np.uint8)))
        arrays = {}
        for key, (dtype, shape) in header["arrays"].items():
            found = np.asarray(file.variables[key][...]) if np.prod(shape) else np.empty(shape)
            arrays[key] = found.astype(dtype).reshape(shape)
    return header, arrays


def _check_format(attributes: Mapping[str, Any], path: Path) -> None:
    if attributes.get("format") != FORMAT:
        raise _not_ours(path)
    version = int(attributes["format_version"])
    if version > FORMAT_VERSION:
        raise InputError(
            f"this fit was saved in format {version}, and this version of sprite reads up to {FORMAT_VERSION}",
            file=str(path),
            remedy="Update sprite, or save the fit again with this version",
        )


def _seal(path: Path) -> None:
    """Put the checksum where its zeros are."""
    data = path.read_bytes()
    at = data.find(_UNSUMMED)
    with path.open("r+b") as file:
        file.seek(at + len(_MARK))
        file.write(_digest(data))


def _check_seal(path: Path) -> None:
    """Refuse what is not ours or not whole before anything else looks into it."""
    data = path.read_bytes()
    found = _SUM.findall(data)
    if not data.startswith(_HDF5) or not found:
        raise _not_ours(path)
    if _MARK + _digest(data) not in found:
        raise InputError(
            "this file is damaged or incomplete: its checksum does not fit its contents",
            file=str(path),
            remedy="Copy it again from where it came from, or fit and save again",
        )


def _digest(data: bytes) -> bytes:
    """SHA-256 in hexadecimal, of the file with every checksum blanked."""
    return hashlib.sha256(_SUM.sub(_UNSUMMED, data)).hexdigest().encode()


def _not_ours(path: Path) -> InputError:
    return InputError(
        "this is not a fit saved by sprite, or it is cut short",
        file=str(path),
        remedy="Give a file that fit.save(path) has written",
    )


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
