"""Records that can draw themselves, and the formats that draw them: rich on a terminal, plain text, JSON."""
