package surrogate

import "github.com/functionspace/bo/internal/settings"

// Published is the value of the setting preset with which a model runs the algorithm of its
// paper. Settings that are not set then have their published values.
const Published = settings.Published
