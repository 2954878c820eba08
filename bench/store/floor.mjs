/** The floor: one prepared insert of the same bytes with the same driver and the same durability. */
import { statSync } from "node:fs"
import { DatabaseSync } from "@photostructure/sqlite"

export function openFloor(file) {
  const db = new DatabaseSync(file)
  db.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; PRAGMA busy_timeout=5000")
  db.exec("CREATE TABLE entries (seq INTEGER PRIMARY KEY, session TEXT NOT NULL, body TEXT NOT NULL)")
  const begin = db.prepare("BEGIN IMMEDIATE")
  const insert = db.prepare("INSERT INTO entries (seq, session, body) VALUES (?, ?, ?)")
  const commit = db.prepare("COMMIT")
  return {
    turn(number, text, state) {
      const body = JSON.stringify({ text, state })
      begin.run()
      insert.run(number, "floor", body)
      commit.run()
    },
    // The statements live as long as the connection, which this closure owns.
    close: () => db.close(),
  }
}

/** Bytes of a database nobody has open, after its write-ahead log has gone into it. */
export function databaseSize(file) {
  const db = new DatabaseSync(file)
  db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").all()
  db.close()
  return statSync(file).size + (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0)
}
