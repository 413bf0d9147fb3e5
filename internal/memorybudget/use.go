package memorybudget

import "runtime/metrics"

// names are the metrics that make up live memory: what the last collection found alive, and the runtime's own needs.
// Garbage, and memory that the runtime keeps for later, does not count.
var names = [...]string{
	"/gc/heap/live:bytes",
	"/memory/classes/heap/stacks:bytes",
	"/memory/classes/os-stacks:bytes",
	"/memory/classes/metadata/mcache/inuse:bytes",
	"/memory/classes/metadata/mspan/inuse:bytes",
	"/memory/classes/metadata/other:bytes",
	"/memory/classes/other:bytes",
}

const collections = "/gc/cycles/total:gc-cycles"

// Use is how much memory is in use.
type Use struct {
	Live        int64  // bytes
	Collections uint64 // so far; Live changes little between them
}

// Used returns the use of this process's memory.
func Used() Use {
	var samples [len(names) + 1]metrics.Sample
	for i, name := range names {
		samples[i].Name = name
	}
	samples[len(names)].Name = collections
	metrics.Read(samples[:])
	var use Use
	for i := range names {
		if v := samples[i].Value; v.Kind() == metrics.KindUint64 { // this version of Go does not have the metric
			use.Live += int64(min(v.Uint64(), noLimit))
		}
	}
	if v := samples[len(names)].Value; v.Kind() == metrics.KindUint64 {
		use.Collections = v.Uint64()
	}
	return use
}
