"""Sphinx settings of the Chinese pages."""

project = "Sublayer"
author = "The Sublayer authors"
copyright = author
language = "zh_CN"
extensions = ["myst_nb"]
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_show_tb = True
nb_execution_timeout = 300  # seconds a cell
html_theme = "furo"
html_title = "Sublayer"
html_theme_options = {"announcement": '<a href="../en/index.html">English</a>'}
