"""For doctests: rooms are imported before pytest imports their modules, one by one, as files.

Otherwise a module that is named like its function, such as ``classify``, takes the function's place in the room.
"""

import bayesift.workflow  # noqa: F401
