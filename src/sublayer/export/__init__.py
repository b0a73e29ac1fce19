"""Ways out: a trained model as another program's model, compared with the original before it is handed over."""
