"""Lambda event in, Lambda response out: parse, loop, report partial failures."""
