"""The line front end, for dumb terminals, screen readers, slow links: one line after the other, nothing drawn over."""
