from functionspace_bo import Float, Study

from . import continuous


class Bo:
    """A study of the Python package with defaults; noise-free objectives are declared."""

    packages = ["functionspace-bo"]

    def __init__(self, task, surrogate):
        continuous(task)
        box = {f"x{i}": Float(lo, hi) for i, (lo, hi) in enumerate(zip(task["lo"], task["hi"]))}
        self.study = Study(box, surrogate=surrogate, noise_free=task["noise_free"], seed=task["seed"])
        self.names = list(box)
        self.open = None

    def tell(self, points, values):
        if self.open:
            self.study.tell(self.open, values[0])
            return
        for point, value in zip(points, values):
            self.study.add(dict(zip(self.names, point)), value)

    def ask(self):
        self.open = self.study.ask()
        return [self.open.params[name] for name in self.names]


class GP(Bo):
    """The default surrogate model."""

    def __init__(self, task, threads):
        super().__init__(task, "gp")


class FSPLaplace(Bo):
    def __init__(self, task, threads):
        super().__init__(task, "fsp-laplace")
