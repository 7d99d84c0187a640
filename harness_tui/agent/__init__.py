"""The agent: a session that takes intents and emits events, and the loop of its runs."""
