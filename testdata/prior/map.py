"""The MAP fit of BoTorch's default SingleTaskGP (RBF without output scale, lengthscale
LogNormal(√2 + ½ ln d, √3), noise variance LogNormal(-4, 1) above 1e-4, learned constant
mean): python map.py > map.json
"""

import json

import botorch
import gpytorch
import numpy as np
import torch
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from gpytorch.mlls import ExactMarginalLogLikelihood

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(3)
cases = []
for n, d, noise in ((25, 2, 0.1), (40, 3, 0.3)):
    x = np.round(rng.uniform(size=(n, d)), 4)
    y = np.sin(6 * x[:, 0]) + x[:, 1] + noise * rng.normal(size=n)
    y = np.round((y - y.mean()) / y.std(ddof=1), 4) + 0.5
    model = SingleTaskGP(torch.tensor(x), torch.tensor(y)[:, None], outcome_transform=None)
    mll = ExactMarginalLogLikelihood(model.likelihood, model)
    fit_gpytorch_mll(mll, optimizer_kwargs={"options": {"gtol": 1e-8, "ftol": 1e-14}})
    model.train()
    objective = n * float(mll(model(*model.train_inputs), model.train_targets))
    likelihood = float(model.likelihood(model(*model.train_inputs)).log_prob(model.train_targets))
    cases.append(dict(x=x.tolist(), y=y.tolist(), lengthscale=model.covar_module.lengthscale[0].tolist(),
                      noise=float(model.likelihood.noise[0]), mean=float(model.mean_module.constant),
                      objective=objective, log_marginal=likelihood))

print(json.dumps(dict(made_by="map.py", versions=dict(botorch=botorch.__version__, gpytorch=gpytorch.__version__,
      torch=torch.__version__, numpy=np.__version__), cases=cases), indent=0))
