// Package catalog lists surrogate models and acquisition functions by name and
// sets their options from text, for programs whose users choose a method:
// commands, services, configuration files.
//
//	m, err := catalog.NewMethod("fsp-laplace")  // a surrogate with its defaults
//	err = m.Choose("lognei")                    // an acquisition function
//	err = m.Set("hidden=100,100")               // a setting of the surrogate
//	err = m.Set("acquisition.samples=1024")     // of the acquisition function
//	err = m.Check(3)                            // valid for three inputs?
//	study, err := loop.New(space, loop.Options{Surrogate: m.Surrogate, Acquisition: m.Acquisition, Maximizer: m.Maximizer})
//
// Surrogates and Acquisitions list the names. Method.Settings lists the keys with
// their types, defaults, ranges, allowed values and help.
package catalog
