"""Screens over the session: trust, session picker, help, a text viewer."""
