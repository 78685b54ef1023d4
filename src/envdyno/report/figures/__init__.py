"""Figures of the page: Vega-Lite specifications as plain data, a figure a file."""
