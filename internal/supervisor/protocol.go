package supervisor

import "encoding/binary"

// Marker is the name, argument 0, of a supervisor process.
const Marker = "task-supervisor"

// The descriptors of a supervisor, after the program's 0 to 2.
const (
	ControlFD = 3
	NameFD    = 4
)

// Terminate makes the supervisor send SIGTERM to the program and all processes that it started.
const Terminate = 'T'

// A Report is a report of a supervisor to Ebb. It is encoded in [ReportSize] bytes.
type Report struct {
	Kind  ReportKind
	Value uint32
}

// ReportSize is the size of an encoded report, in bytes.
const ReportSize = 5

// ReportKind is the subject of a report.
type ReportKind byte

// The kinds of reports.
const (
	Started ReportKind = 'P' // Value is the process ID of the program
	Failed  ReportKind = 'E' // the program did not start; Value is the errno
	Ended   ReportKind = 'S' // Value is the wait status of the program
	Left    ReportKind = 'L' // Value is the number of processes that could not be ended
)

// Append appends the encoded report to b.
func (r Report) Append(b []byte) []byte {
	return binary.LittleEndian.AppendUint32(append(b, byte(r.Kind)), r.Value)
}

// Decode returns the first report in b, which has at least ReportSize bytes.
func Decode(b []byte) Report {
	return Report{Kind: ReportKind(b[0]), Value: binary.LittleEndian.Uint32(b[1:])}
}
