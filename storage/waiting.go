package storage

// A Poller is who asks for the work of a queue.
type Poller struct {
	Queue   string   `json:"queue"`             // task queue
	Workers []string `json:"workers,omitempty"` // names of the workers, the first five, sorted
}
