package scheduler

// walk visits the nodes that next leads to from the given nodes, each once. It visits a given node only if another
// leads to that node. It continues behind a node if visit returns true.
func walk(next func(n int32) []int32, visit func(n int32) bool, from ...int32) {
	seen := map[int32]bool{}
	for work := from; len(work) > 0; {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		for _, v := range next(n) {
			if !seen[v] {
				seen[v] = true
				if visit(v) {
					work = append(work, v)
				}
			}
		}
	}
}
