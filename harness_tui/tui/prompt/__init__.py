"""The prompt: editor, history, pastes and completion."""
