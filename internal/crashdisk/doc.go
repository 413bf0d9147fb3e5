// Package crashdisk lets tests of SQLite databases cut the power, kill the process and break the disk. It is a VFS
// between SQLite and the file system. For each file of a watched folder, it keeps what was written and what of it was
// synced.
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
// An [Image] is the folder as it is at one moment. It can be laid out as a killed process leaves it, with all that was
// written, or as a power cut leaves it. After a power cut, everything that was synced is there. Of the rest, any
// combination of sectors is there, and some are torn.
//
// [Images] is the short form for "a flow, and then go on from n moments of it".
//
// The model covers these effects:
//
//   - A sync makes a file's content durable, and its name if the file is new.
//   - Writes and truncations that were not synced happen or do not, sector by sector.
//   - A deletion without a sync of the folder happens or does not.
//   - A sync that fails may lose the data that it was to save, though every reader still sees it ([Fault.Lose]).
//
// The disk leaves out real syncs, which makes it fast. It does not see other processes, or memory that is mapped for
// writing.
//
// It is for tests only. Once a folder is watched, all databases that the process
// opens from then on go through here; those in folders that are not watched pass
// untouched.
package crashdisk
