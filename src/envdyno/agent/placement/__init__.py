"""Where a process runs and where its memory comes from: discover, choose, bind, verify, restore.

Standard library only. Facts about the kernel come from sysfs and procfs under a root that can be replaced,
and from the system calls in :mod:`envdyno.agent.placement.syscalls`, which can be replaced as well.
"""
