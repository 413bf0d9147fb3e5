package driver

import "math"

// readMessages reads a page of the messages that arrived since the inbox was last read, and applies them. After a full
// page it makes the driver read the next page.
func (d *Driver) readMessages() error {
	full, err := d.look()
	if err != nil {
		return err
	}
	if full {
		d.att.mail.Store(true)
		d.att.look.Store(true)
	}
	return d.follow(math.MaxInt64)
}

// look reads a page of the messages that arrived since the inbox was last read. It reports whether the page is full.
func (d *Driver) look() (full bool, err error) {
	wakeups, messages, err := d.env.Store.Messages(d.storing, d.Claim.Run, d.mail.Read())
	if err != nil {
		return false, d.Wrap(err)
	}
	d.Draft.Issued(messages)
	return d.mail.Add(wakeups, messages), nil
}

// readAll reads all messages that have arrived, and applies them.
func (d *Driver) readAll() error {
	for more := true; more; more = d.att.mail.Swap(false) {
		if err := d.readMessages(); err != nil {
			return err
		}
	}
	return nil
}

// hear reads the messages that have arrived, before the run itself gives up attempts that other parties may end: what
// they were told was accepted counts.
func (d *Driver) hear() error {
	if d.cycle.over != nil || d.attempts.Len() == 0 && d.attempts.Runs() == 0 && (!d.Grows() || !d.s.Listens()) {
		return nil
	}
	if err := d.readAll(); err != nil {
		return err
	}
	return d.decideTold()
}
