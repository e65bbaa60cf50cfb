"""Limits on processors, memory and I/O, put on the processes of a server and not on the driver.

``words`` says what can be asked, ``places`` where control groups can be made, ``group`` makes one,
``devices`` names what I/O limits are for, and ``run`` has all of it for one run. A server is put
there by ``launch`` before its first allocation. An engine inside Dyno's own process has Dyno go
there as long as it is open; ``keeper`` then tells what became of it.
"""
