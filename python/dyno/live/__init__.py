"""The live page: a local web server that shows a run from its bundle, while it runs or later."""
