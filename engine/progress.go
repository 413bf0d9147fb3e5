package engine

// keepReports puts what was reported into the checkpoint that is being gathered.
// The commands of the scheduler must have been carried out, so that its records
// are those that were written last. What comes from a call that is over is
// dropped.
func (d *driver) keepReports() {
	for _, r := range d.calls.Reports() {
		c := r.Call
		at := d.attemptOf(c)
		if at == nil || !executes(at.state) || at.number != c.Number || at.state != c.State {
			continue
		}
		if r.Details == nil && at.said != nil {
			r.Details = at.said.details
		}
		at.said = &said{r.Fraction, r.Details}
		if n := c.Node; n != nil {
			d.nodeRecord(n, &n.Rec)
		} else {
			d.planRecord(c.Atom, d.s.Record(c.Atom))
		}
		d.dirty = true
		d.note(Event{
			Kind: ProgressMade, Path: c.About.Path, Attempt: c.About.Attempt, Progress: r.Fraction, Details: r.Details,
		})
	}
}
