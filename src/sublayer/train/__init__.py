"""The training loop. It knows no task: it is handed `loss(model, batch)`."""
