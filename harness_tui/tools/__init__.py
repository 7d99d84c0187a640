"""The tools that every agent has: files, search, shell, the list of steps, questions to the person."""
