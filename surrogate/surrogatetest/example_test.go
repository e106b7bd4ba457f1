package surrogatetest_test

import (
	"fmt"

	"github.com/functionspace/bo/surrogate/gp"
	"github.com/functionspace/bo/surrogate/surrogatetest"
)

// Tests call Run. Check returns an error instead.
func ExampleOptions_Check() {
	err := surrogatetest.Options{Fast: true}.Check(gp.Model{})
	fmt.Println(err)
	// Output: <nil>
}
