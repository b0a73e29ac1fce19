"""Sphinx settings of the Chinese pages."""

project = "Sublayer"
author = "The Sublayer authors"
copyright = author
language = "zh_CN"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "Sublayer"
html_theme_options = {"announcement": '<a href="../en/index.html">English</a>'}
