"""Models behind one small port, :class:`harness_tui.core.seams.Model`.

``registry`` finds and makes them by name, ``openai_compatible`` talks to servers, ``replay`` plays a script, and
``offline`` explains how to get a model. Libraries are imported at the first request, in a thread.
"""
