"""SPRITE: models which option each respondent of a multiple-choice test chose, not just right or wrong."""

from __future__ import annotations

from importlib import import_module

# Public names and the modules they live in; loaded when first used, so that `import sprite` stays quick.
_PUBLIC = {
    "EM": "sprite.engines.em",
    "GPCM": "sprite.models.gpcm",
    "Gibbs": "sprite.engines.gibbs",
    "InputError": "sprite.core.errors",
    "LORD": "sprite.models.lord",
    "Metropolis": "sprite.engines.metropolis",
    "NRM": "sprite.models.nrm",
    "NUTS": "sprite.engines.nuts",
    "ORD": "sprite.models.ord",
    "Responses": "sprite.data.responses",
    "Sprite": "sprite.models.sprite",
    "SpriteError": "sprite.core.errors",
    "SpriteWarning": "sprite.core.errors",
    "check": "sprite.data.check",
    "compare": "sprite.experiments.compare",
    "example": "sprite.data.bundled",
    "fit": "sprite.fitting",
    "load": "sprite.result.storage",
    "read": "sprite.data.reading",
    "simulate": "sprite.simulation",
}

__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("sprite-irt")
    if name not in _PUBLIC:
        raise AttributeError(f"module 'sprite' has no attribute {name!r}")
    value = getattr(import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
