package faults

// NotStopped ends the message of a trial that failed because the rule of its evaluation could not stop it.
const NotStopped = " (only a trial of one objective is stopped, after a reported step)"
