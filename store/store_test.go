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

func TestMemoryOperations(t *testing.T) {
	storetest.RunOperations(t, 800_000, func(*testing.T) storetest.Opener {
		b := store.NewMemory()
		return func() (store.Backend, error) { return b, nil }
	})
}
