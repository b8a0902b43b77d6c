"""Beyond the papers: all our models and their peers on every collection that is here, from texts to decisions."""

from bayesift.experiments.beyond.comparison import EXPERIMENTS
from bayesift.experiments.beyond.measuring import Row, measure, signs
from bayesift.experiments.beyond.systems import SYSTEMS, System, systems_for
from bayesift.experiments.beyond.tasks import TASKS, Task, tasks_of

__all__ = ["EXPERIMENTS", "SYSTEMS", "TASKS", "Row", "System", "Task", "measure", "signs", "systems_for", "tasks_of"]
