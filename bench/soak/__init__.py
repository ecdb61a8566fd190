"""The soak: ``make soak`` and ``make soak-dead`` run a stack of their own under load and settle what was delivered.

``load`` sends, ``receivers`` take and fail by a seeded choice, ``stored`` reads what the stack was to deliver,
``resources`` looks at its processes, and ``judge`` decides, from these facts alone.
"""
