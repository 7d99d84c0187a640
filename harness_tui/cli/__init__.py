"""The command line: argv, exit codes, and one front end imported lazily."""
