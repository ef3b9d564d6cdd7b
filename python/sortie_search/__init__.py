"""Monte-Carlo search: any problem in one class, the built-in domains at native speed, ask and tell for expensive evaluations.

``solve`` searches, ``analyse``, ``match`` and ``prove`` are for games, ``Tree`` and ``Policy`` ask for evaluations,
``runs``, ``resume`` and ``verify`` read run folders, ``check`` says what is wrong with a class, ``networks`` writes and reads them.
"""

from . import networks
from ._native import version as __version__
from .asking import Counts, Drawn, Job, Node, Policy, Tree
from .checking import Checked, check
from .folder import FolderError
from .games import Line, MatchResult, Proof, Thought, analyse, match, prove
from .instance import Instance, domains, open
from .problem import CheckError, Game, Problem, ProblemError
from .processes import WorkerDied
from .run import Run, resume, runs, verify
from .solving import Improvement, Result, solve
from .stopping import Stop, cpu_seconds, patience, playouts, seconds, target

__all__ = [
    "CheckError", "Checked", "Counts", "Drawn", "FolderError", "Game", "Improvement", "Instance", "Job", "Line",
    "MatchResult", "Node", "Policy", "Problem", "ProblemError", "Proof", "Result", "Run", "Stop", "Thought", "Tree",
    "WorkerDied", "__version__", "analyse", "check", "cpu_seconds", "domains", "match", "networks", "open", "patience", "playouts",
    "prove", "resume", "runs", "seconds", "solve", "target", "verify",
]  # fmt: skip
