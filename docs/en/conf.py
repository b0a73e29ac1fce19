"""Sphinx settings of the English pages."""

project = "Sublayer"
author = "The Sublayer authors"
copyright = author
language = "en"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "Sublayer"
html_theme_options = {"announcement": '<a href="../zh/index.html">中文</a>'}
