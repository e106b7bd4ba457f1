from functionspace_bo import Float, Int, Study

from . import parameters


def parameter(p):
    """Returns the parameter of a coordinate. The suites of bo bench, which bo runs itself, have other kinds."""
    if p.kind == "float":
        return Float(p.lo, p.hi, log=p.log)
    if p.kind == "int":
        return Int(int(p.lo), int(p.hi), log=p.log)
    raise NotImplementedError(f"a parameter of type {p.kind}")


class Bo:
    """A study of the Python package with defaults."""

    packages = ["functionspace-bo"]

    def __init__(self, task, surrogate, noise_free):
        box = {f"x{i}": parameter(p) for i, p in enumerate(parameters(task))}
        self.study = Study(box, surrogate=surrogate, noise_free=noise_free, seed=task["seed"])
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
        super().__init__(task, "gp", task["noise_free"])


class NoisyGP(Bo):
    """The default surrogate model without the information that the objective is noise-free."""

    def __init__(self, task, threads):
        super().__init__(task, "gp", noise_free=False)


class FSPLaplace(Bo):
    def __init__(self, task, threads):
        super().__init__(task, "fsp-laplace", task["noise_free"])
