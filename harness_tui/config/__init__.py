"""Places, project root, configuration, trust and agent definitions.

``places`` and ``project`` say where things are, ``settings`` holds the validated values as plain dataclasses,
``schema`` (the only user of pydantic here, imported on a cache miss) turns files into them, ``trust`` decides what a
folder may bring along, ``edit`` is the only writer of configuration files.
"""
