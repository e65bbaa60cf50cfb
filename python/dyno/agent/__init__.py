"""The agent on a database's machine, and the connection of a run to it.

``ring``, ``service`` and ``listen`` are the agent's side; ``address``, ``client``, ``ssh``,
``follow`` the side of a run. ``protocol`` and ``token`` belong to both.
"""
