/**
 * Which databases keep checkpoints of a workspace whose snapshots lie in one place. What one database does not know of
 * may be another one's: as long as there is another, no snapshot is taken away for being unknown.
 */
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Store } from "../store/open-store.js"
import type { SqliteDriver } from "../store/sqlite-driver.js"

const folder = "databases"

/** Notes that this store's checkpoints have snapshots there. */
export function noteSnapshotUser(directory: string, store: Store): void {
  const address = addressOf(store)
  if (address === undefined) return
  const file = join(directory, folder, nameOf(address))
  if (existsSync(file)) return
  mkdirSync(join(directory, folder), { recursive: true, mode: 0o700 })
  writeFileSync(file, address, { mode: 0o600 })
}

/** The other databases that do; those whose file is gone need nothing any more. */
export function listOtherUsers(directory: string, store: Store): string[] {
  const own = addressOf(store)
  const names = existsSync(join(directory, folder)) ? readdirSync(join(directory, folder)) : []
  const addresses = names.map((name) => readFileSync(join(directory, folder, name), "utf8"))
  return addresses.filter((address) => address !== own && isThere(address))
}

function isThere(address: string): boolean {
  return !address.startsWith("sqlite:") || existsSync(address.slice("sqlite:".length))
}

/** No passwords: servers are not told apart. `undefined` for what is gone with its process. */
function addressOf({ context: { driver } }: Store): string | undefined {
  if (driver.dialect !== "sqlite") return "postgres"
  const { path } = driver as SqliteDriver
  return path === ":memory:" ? undefined : `sqlite:${path}`
}

function nameOf(address: string): string {
  return createHash("sha256").update(address).digest("hex").slice(0, 16)
}
