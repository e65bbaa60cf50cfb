"""Charts: Vega-Lite specifications made with Altair, rendered to inline SVG."""
