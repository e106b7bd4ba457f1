package families

import (
	"slices"

	"github.com/functionspace/bo/internal/random"
)

// splitSeed was fixed before the first run.
const splitSeed = 18

// Split divides the families of every class into two halves at random, with a fixed
// seed: the development half, and the confirmation half, which serves to check choices
// made on the first.
func Split() (development, confirmation []Family) {
	all := All()
	for from := 0; from < len(all); {
		to := from
		for to < len(all) && all[to].Class == all[from].Class {
			to++
		}
		class := slices.Clone(all[from:to])
		random.New(splitSeed, "split of "+string(class[0].Class), 0).Shuffle(len(class), func(i, j int) { class[i], class[j] = class[j], class[i] })
		half := len(class) / 2
		development = append(development, class[:half]...)
		confirmation = append(confirmation, class[half:]...)
		from = to
	}
	return development, confirmation
}
