// Package crashdisk lets tests of SQLite databases cut the power, kill the
// process and break the disk. It stands between SQLite and the file system, as a
// VFS, and keeps for each file of a watched folder what was written and what of
// it was synced.
//
//	disk := crashdisk.Watch(t, dir)
//	disk.OnOp(func(op crashdisk.Op) {
//		if op.Kind == crashdisk.Sync {
//			images = append(images, disk.Image())
//		}
//	})
//	… use databases in dir …
//	err := images[3].PowerCut(elsewhere, rng)
//
// An [Image] is the folder as it is at one moment. It can be laid out as a
// killed process leaves it, with all that was written, or as a power cut does:
// what was synced is there for sure, of what was not any sectors are, some of
// them torn, in any combination.
//
// [Images] is the short form for "a flow, and then go on from n moments of it".
//
// What is modelled, and how hard: a sync makes a file's content durable, its name
// with it when it was new; writes and truncations that were not synced happen or
// do not, sector by sector; a deletion without a sync of the folder happens or
// does not; a sync that failed may lose the data that it was to save, though every
// reader still sees it ([Fault.Lose]). Real syncs are left out, which makes it fast. A
// process of its own, and memory that is mapped for writing, are not seen.
//
// It is for tests only. Once a folder is watched, all databases that the process
// opens from then on go through here; those in folders that are not watched pass
// untouched.
package crashdisk
