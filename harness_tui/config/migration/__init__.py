"""What other tools keep in their own files, in our terms: agents where they lie, and settings that are imported."""
