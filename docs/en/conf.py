"""Sphinx settings of the English pages."""

project = "Sublayer"
author = "The Sublayer authors"
copyright = author
language = "en"
extensions = ["myst_nb"]
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_show_tb = True
nb_execution_timeout = 300  # seconds a cell
html_theme = "furo"
html_title = "Sublayer"
html_theme_options = {"announcement": '<a href="../zh/index.html">中文</a>'}
