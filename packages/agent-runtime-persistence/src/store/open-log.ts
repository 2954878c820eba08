/**
 * The log of a store without the rest of it: for whoever must append and be gone in about the time Node itself needs to
 * start, as the hooks of other agents must. The same driver, transactions and checks as the whole store; but nothing is
 * made, migrated or recovered here.
 */
import { existsSync } from "node:fs"
import { createIdSource } from "@ku0/agent-runtime-core"
import { hostIdentity } from "../session/process-identity.js"
import { createSessionLog } from "../session/session-log.js"
import { createSessionStore } from "../session/session-store.js"
import { fillRandom } from "./lazy-crypto.js"
import { isNewest } from "./migrate.js"
import type { OpenStoreOptions, Store } from "./open-store.js"
import { findSqlitePath } from "./sqlite-address.js"
import { openSqliteDriver } from "./sqlite-driver.js"
import type { StoreContext } from "./store-context.js"

/**
 * What is appended is on disk when the promise resolves, and for the next one who opens the store. So a process that
 * ends right after that need not close it: closing tidies the write-ahead log up, which takes longer than appending.
 */
export type OpenLog = Pick<Store, "sessions" | "log" | "close">

export type OpenLogOptions = Pick<OpenStoreOptions, "clock" | "host" | "busyTimeoutMs" | "onStep">

/** Pages the write-ahead log may grow to when nobody closes: whoever opens it next reads all of it. */
const logPages = 250

/**
 * `undefined` where the address is not that of an SQLite file, the file is not there, or it is not a database of ours
 * with the newest schema: then `openStore` makes it so, or says what is wrong.
 */
export async function openLog(url: string, options: OpenLogOptions = {}): Promise<OpenLog | undefined> {
  const path = findSqlitePath(url)
  if (path === undefined || !existsSync(path)) return undefined
  const onStep = options.onStep ?? (() => undefined)
  const driver = openSqliteDriver({ path, busyTimeoutMs: options.busyTimeoutMs ?? 10_000, onStep })
  try {
    if (!(await isNewest(driver))) {
      await driver.close()
      return undefined
    }
    driver.claim()
    driver.exec(`PRAGMA wal_autocheckpoint = ${logPages}`)
  } catch (error) {
    await driver.close()
    throw error
  }
  const clock = options.clock ?? { now: () => Date.now() }
  const context: StoreContext = {
    driver,
    clock,
    ids: createIdSource(clock, fillRandom),
    // asked for when a lease must be judged, which is seldom
    get host() {
      return options.host ?? hostIdentity()
    },
    onStep,
    onAppended: new Set(),
  }
  return { sessions: createSessionStore(context), log: createSessionLog(context), close: driver.close }
}
