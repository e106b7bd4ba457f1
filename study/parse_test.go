package study

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMaxCount(t *testing.T) {
	require.NoError(t, optionFault("budget", fmt.Sprint(MaxCount)))
	require.Error(t, optionFault("budget", fmt.Sprint(MaxCount+1)))
}
