"""Harness: an agent shell for the terminal."""
