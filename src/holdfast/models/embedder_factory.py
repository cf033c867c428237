"""Opens an embedder by its name. Nothing is loaded and no server is asked before it is used."""

from holdfast.engine.ports import Embedder
from holdfast.models.spec import Spec


def opened(spec: Spec, *, key: str | None = None) -> Embedder | None:
    """The embedder that `spec` names; none for none. `key` goes to its server and nowhere else."""
    match spec.kind:
        case "none":
            return None
        case "own":
            from holdfast.models.embedder import OwnEmbedder

            return OwnEmbedder()
        case "multilingual":
            from holdfast.models.multilingual import Multilingual

            return Multilingual()
        case "ollama" | "openai":
            from holdfast.models.remote import RemoteEmbedder

            return RemoteEmbedder(spec, key=key)
