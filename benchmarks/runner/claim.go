package runner

// Claim is the statement that a method ends with a lower regret than another. A report
// tests it on the pairs of problem and seed that both methods finished.
type Claim struct {
	Text     string // the statement in words
	Method   string
	Than     string
	Problems []string // names; nil takes all
	Half     bool     // the statement is about half of the budget
	Equal    bool     // the statement is that the methods do not differ
}
