"""How weights start. Each function changes a module in place and touches norms never."""

from torch import nn


def xavier(module: nn.Module) -> None:
    """Glorot and Bengio 2010, equation 16, on every matrix, embeddings too, as the tutorials do; biases 0."""
    for part in module.modules():
        if isinstance(part, nn.Linear):
            nn.init.xavier_uniform_(part.weight)
            if part.bias is not None:
                nn.init.zeros_(part.bias)
        elif isinstance(part, nn.Embedding):
            nn.init.xavier_uniform_(part.weight)


def scaled(module: nn.Module) -> None:
    """Xavier for the linear maps; embeddings N(0, 1/d), so that √d · E has unit variance. Biases 0."""
    xavier(module)
    for part in module.modules():
        if isinstance(part, nn.Embedding):
            nn.init.normal_(part.weight, std=part.embedding_dim**-0.5)


def normal(module: nn.Module, std: float = 0.02) -> None:
    """N(0, std²) for every matrix, as BERT and GPT-2 start; biases 0."""
    for part in module.modules():
        if isinstance(part, nn.Linear | nn.Embedding):
            nn.init.normal_(part.weight, std=std)
        if isinstance(part, nn.Linear) and part.bias is not None:
            nn.init.zeros_(part.bias)
