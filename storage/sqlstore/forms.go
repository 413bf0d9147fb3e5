package sqlstore

import "github.com/ebbflow/ebb/storage/sqlstore/internal/sqlconn"

// forms lists, by text, the statements that write many rows at once. Each update wraps its conditions on the row
// itself so that only the key finds the row. Otherwise, where PostgreSQL takes such rows for rare, it scans the
// whole table for them, and scans all sent rows for each of them.
var forms = map[string]sqlconn.Form{
	guardRun[onPostgres]:      {Sure: sqlconn.Surely(guardRun[onPostgres])},
	turnRun[onPostgres]:       {Sure: sqlconn.Surely(turnRun[onPostgres])},
	leaveRun[onPostgres]:      {Sure: sqlconn.Surely(leaveRun[onPostgres])},
	beginRow[onPostgres]:      {Sure: sqlconn.Surely(beginRow[onPostgres])},
	stepRun[onPostgres]:       {},
	insertNumbered:            {Sure: sqlconn.Surely(insertNumbered)},
	insertRun[onPostgres]:     {},
	insertHistory[onPostgres]: {},
	moveLabels[onPostgres]:    {Last: true}, // after the guards of the runs
	claimJob[onPostgres]:      {},
	bindToRun[onPostgres]:     {Sure: sqlconn.Surely(bindToRun[onPostgres])},
	// A run that is created and ends in one checkpoint binds its job and then ends it.
	endWithRun[onPostgres]: {Sure: sqlconn.Surely(endWithRun[onPostgres]), Last: true},
	finishJob[onPostgres]:  {Sure: sqlconn.Surely(finishJob[onPostgres])},

	upsertTimer[onPostgres]:   {},
	deleteTimer[onPostgres]:   {},
	deleteMessage[onPostgres]: {},
	upsertToken[onPostgres]:   {Sure: upsertToken[onPostgres]}, // it fails by itself
	// A checkpoint that moves a record to a table may also forget it, and then deletes it.
	upsertLive[onPostgres]:    {},
	upsertSettled[onPostgres]: {},
	deleteLive[onPostgres]:    {Last: true},
	deleteSettled[onPostgres]: {Last: true},
}
