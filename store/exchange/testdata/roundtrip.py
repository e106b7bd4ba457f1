# Loads each journal given, checks it as Optuna does when a trial is added, and copies its
# study into NAME.copy (a journal) and NAME.db (SQLite). Prints a line for each trial.
import json
import sys

import optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

optuna.logging.set_verbosity(optuna.logging.ERROR)
for path in sys.argv[1:]:
    source = JournalStorage(JournalFileBackend(path))
    study = optuna.load_study(study_name=None, storage=source)
    optuna.create_study(directions=study.directions).add_trials(study.trials)
    for target in [JournalStorage(JournalFileBackend(path + ".copy")), "sqlite:///" + path + ".db"]:
        optuna.copy_study(from_study_name=study.study_name, from_storage=source, to_storage=target)
    best = [t.number for t in study.best_trials]
    for t in study.trials:
        line = {"study": study.study_name, "directions": [d.name for d in study.directions], "trial": t.number + 1, "state": t.state.name}
        line |= {"params": t.params, "values": t.values, "constraints": t.constraints, "best": t.number in best, "user": t.user_attrs}
        line |= {"steps": t.intermediate_values, "single": [k for k, d in t.distributions.items() if d.single()]}
        print(json.dumps(line))
