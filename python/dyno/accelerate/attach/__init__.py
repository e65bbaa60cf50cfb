"""The attachment: a folder mounted over itself, with a cache on flash in front."""
