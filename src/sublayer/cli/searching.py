"""Search settings from options."""

from sublayer.errors import ConfigError
from sublayer.tasks.recipe import Search


def changed(search: Search, *, beam: int | None, nbest: int | None = None) -> Search:
    """The run's own settings with what was asked for."""
    beam = search.beam if beam is None else beam
    nbest = min(search.nbest, beam) if nbest is None else nbest
    if nbest > beam:
        raise ConfigError(f"--nbest {nbest} is more than --beam {beam} can give. Write --beam {nbest} or wider.")
    return search.model_copy(update={"beam": beam, "nbest": nbest})
