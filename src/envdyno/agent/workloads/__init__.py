"""What can be stepped: the workload contract, the registry of names, and one adapter a file."""
