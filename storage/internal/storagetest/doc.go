// Package storagetest is the suite that every [backend.Store] passes.
//
//	func TestStore(t *testing.T) {
//		storagetest.Run(t, storagetest.Maker{
//			Open: func(testing.TB) backend.Store { return memstore.New() },
//			Join: func(_ testing.TB, s backend.Store) backend.Store { return s.(*memstore.Store).Join() },
//		})
//	}
//
// It checks each method of the contract, and races of fence, wakeup counter and tokens. It compares random histories of
// calls with a model.
package storagetest
