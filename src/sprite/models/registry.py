"""The models by the name that the command line uses: the one place where a new model is entered."""

from __future__ import annotations

from sprite.core.errors import InputError
from sprite.models.base import Model
from sprite.models.gpcm import GPCM
from sprite.models.lord import LORD
from sprite.models.nrm import NRM
from sprite.models.ord import ORD
from sprite.models.sprite import Sprite

MODELS: dict[str, type[Model]] = {model.name: model for model in (Sprite, NRM, GPCM, ORD, LORD)}


def model_of(model: Model | str) -> Model:
    """A model from its name with default settings; a model is returned as it is."""
    if isinstance(model, Model):
        return model
    try:
        return MODELS[model.lower()]()
    except (KeyError, AttributeError):
        raise InputError("no such model", found=model, remedy=f"Choose one of {', '.join(MODELS)}") from None
