package benchmarks_test

import (
	"fmt"

	"github.com/functionspace/bo/benchmarks"
)

func Example() {
	o, err := benchmarks.Lookup("branin")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s on [%v,%v]×[%v,%v]: minimum %.6f at %.4f\n", o.Name, o.Lo[0], o.Hi[0], o.Lo[1], o.Hi[1], o.Minimum, o.Minimizers[1])
	_, err = benchmarks.Lookup("brannin")
	fmt.Println(err)
	// Output:
	// branin on [-5,10]×[0,15]: minimum 0.397887 at [3.1416 2.2750]
	// unknown objective "brannin": did you mean branin?
}
