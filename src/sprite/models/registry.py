"""The models by the name that the command line uses: the one place where a new model is entered."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from sprite.core.errors import InputError
from sprite.models.base import Model
from sprite.models.gpcm import GPCM
from sprite.models.lord import LORD
from sprite.models.nrm import NRM
from sprite.models.ord import ORD
from sprite.models.sprite import Sprite

MODELS: dict[str, type[Model]] = {model.name: model for model in (Sprite, NRM, GPCM, ORD, LORD)}


LEARNED = "-learned"
"""Behind a model's name: with the prior learned from the data."""


def model_of(model: Model | str) -> Model:
    """A model from its name with default settings, such as `sprite` or `sprite-learned`; a model as it is."""
    if isinstance(model, Model):
        return model
    name = model.lower() if isinstance(model, str) else ""
    kind = MODELS.get(name.removesuffix(LEARNED))
    if kind is None:
        raise InputError(
            "no such model",
            found=model,
            remedy=f"Choose one of {', '.join(MODELS)}, or with a learned prior such as sprite{LEARNED}",
        )
    return replace(cast(Any, kind()), prior="learned") if name.endswith(LEARNED) else kind()
