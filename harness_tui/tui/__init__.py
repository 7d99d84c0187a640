"""The full-screen front end: renders events, sends intents.

``run.run`` is the entry. ``backend`` is the seam to the workspace, ``presenter`` turns events into plain models that
know nothing of Textual, and the widgets draw those models. Whatever the first frame does not need is imported after it.
"""
