"""Weights of other libraries, as tables read in both directions."""
