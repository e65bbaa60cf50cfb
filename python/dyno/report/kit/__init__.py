"""What pages are made of: blocks, charts, formats and the HTML around them."""
