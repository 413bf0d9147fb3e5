package driver

// keepReports puts what was reported into the checkpoint that is being gathered.
// The commands of the scheduler must have been carried out, so that its records
// are those that were written last. What comes from a call that is over is
// dropped.
func (d *Driver) keepReports() {
	for _, r := range d.calls.Reports() {
		c := r.Call
		if !d.next.Said(c.Node, c.Atom, c.Number, c.State, r.Fraction, &r.Details) {
			continue
		}
		if n := c.Node; n != nil {
			d.next.Node(n, &n.Rec)
		} else {
			d.next.Atom(c.Atom, d.s.Record(c.Atom))
		}
		d.next.Dirty = true
		d.note(Event{
			Kind: ProgressMade, Path: c.About.Path, Attempt: c.About.Attempt, Progress: r.Fraction, Details: r.Details,
		})
	}
}
