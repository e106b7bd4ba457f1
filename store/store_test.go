package store_test

import (
	"testing"

	"github.com/functionspace/bo/store"
	"github.com/functionspace/bo/store/storetest"
)

func TestMemory(t *testing.T) {
	storetest.Run(t, func(*testing.T) storetest.Opener {
		b := store.NewMemory()
		return func() (store.Backend, error) { return b, nil }
	})
}
