"""Limits on CPUs, memory and I/O for the processes of a server, not for the driver.

``limits_asked`` parses the limits, ``places`` finds where control groups can be created, ``group``
creates one, ``devices`` finds the devices of I/O limits, and ``run`` combines them for one run.
``launch`` moves a server into the groups before its first allocation. For an engine in Dyno's own
process, Dyno enters them while the engine is open; ``keeper`` then reports a kill.
"""
