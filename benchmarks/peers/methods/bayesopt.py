from bayes_opt import BayesianOptimization

from . import continuous


class BayesOpt:
    """BayesianOptimization with defaults."""

    packages = ["bayesian-optimization", "scikit-learn"]

    def __init__(self, task, threads):
        continuous(task)
        self.names = [f"x{i:02}" for i in range(task["dim"])]
        box = dict(zip(self.names, zip(task["lo"], task["hi"])))
        self.optimizer = BayesianOptimization(
            None, box, random_state=task["seed"], verbose=0, allow_duplicate_points=True
        )

    def tell(self, points, values):
        for point, value in zip(points, values):
            self.optimizer.register(dict(zip(self.names, point)), -value)

    def ask(self):
        point = self.optimizer.suggest()
        return [point[name] for name in self.names]
