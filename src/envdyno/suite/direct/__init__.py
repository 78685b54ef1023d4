"""The direct runtime: one fused class a task, intermediate results shared, buffers allocated once."""
