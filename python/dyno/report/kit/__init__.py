"""Building blocks of pages: blocks, charts, formats and HTML."""
