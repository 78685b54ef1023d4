"""The page: one file that holds everything, needs no network, and runs no code but a table's sorter."""
