"""Where model, text, data, search and scores meet."""
