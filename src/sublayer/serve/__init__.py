"""A trained run behind HTTP: answers in micro-batches, tokens as they are written, attention, and a page to try it."""
