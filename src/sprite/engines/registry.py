"""The engines by the name that the command line uses: the one place where a new engine is entered."""

from __future__ import annotations

from sprite.core.errors import InputError
from sprite.engines.base import Engine
from sprite.engines.em import EM
from sprite.engines.gibbs import Gibbs
from sprite.engines.metropolis import Metropolis
from sprite.engines.nuts import NUTS

ENGINES: dict[str, type[Engine]] = {engine.name: engine for engine in (EM, Gibbs, NUTS, Metropolis)}
DEFAULT: type[Engine] = Gibbs


def engine_of(engine: Engine | str | None) -> Engine:
    """An engine from its name with default settings, the default one for None; an engine is returned as it is."""
    if engine is None:
        return DEFAULT()
    if isinstance(engine, Engine):
        return engine
    try:
        return ENGINES[engine.lower()]()
    except (KeyError, AttributeError):
        raise InputError("no such engine", found=engine, remedy=f"Choose one of {', '.join(ENGINES)}") from None
