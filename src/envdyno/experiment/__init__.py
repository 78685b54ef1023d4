"""Experiments: sides proven, planned runs made in order and recorded, and what is judged of them."""
