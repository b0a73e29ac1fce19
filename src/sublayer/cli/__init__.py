"""The command line: one thin file a verb. No torch is imported before a verb needs it."""
