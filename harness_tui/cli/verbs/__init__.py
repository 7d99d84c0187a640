"""One module a verb, each with a click command named ``command``; imported when its verb is typed."""
