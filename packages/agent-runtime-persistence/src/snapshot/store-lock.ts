/**
 * One process at a time changes a snapshot store. The lock is an SQLite transaction on a file of its own: the kernel
 * lets go of it when its holder dies, so a killed process never blocks anyone.
 */

import { truncateSync } from "node:fs"
import { setTimeout as wait } from "node:timers/promises"
import { KeepupError } from "@ku0/agent-runtime-core"
import { loadSqlite } from "../store/load-sqlite.js"
import { monotonicNow } from "../store/monotonic-time.js"

export interface StoreLock {
  /** Runs `work` while nobody else, in this process or another, holds the lock. Not reentrant. */
  hold<T>(work: () => Promise<T>): Promise<T>
  close(): void
}

interface Database {
  exec(sql: string): void
  close(): void
}

const notADatabase = 26

/** Opens lazily: reading a store needs no lock. */
export function createStoreLock(file: string, timeoutMs: number): StoreLock {
  let database: Promise<Database> | undefined
  let isQuiet = false
  let queue: Promise<unknown> = Promise.resolve()

  async function open(): Promise<Database> {
    try {
      const Database = loadSqlite()
      return new Database(file, { timeout: 0 }) as unknown as Database
    } catch (cause) {
      throw new KeepupError(
        "UNAVAILABLE",
        `The lock of the snapshot store can't be opened: ${(cause as Error).message}.`,
        {
          cause,
          hint: "Check the permissions of the state directory.",
        },
      )
    }
  }

  async function holdNow<T>(work: () => Promise<T>): Promise<T> {
    database ??= open()
    const opened = await database.catch((error) => {
      database = undefined
      throw error
    })
    await begin(opened)
    try {
      return await work()
    } finally {
      opened.exec("ROLLBACK")
    }
  }

  async function begin(opened: Database): Promise<void> {
    const end = monotonicNow() + timeoutMs
    for (let pause = 1; ; pause = Math.min(pause * 2, 25)) {
      try {
        // Nothing is ever written: without this each hold makes a file and removes it. It waits for the lock as well.
        if (!isQuiet) opened.exec("PRAGMA journal_mode = MEMORY")
        isQuiet = true
        opened.exec("BEGIN EXCLUSIVE")
        return
      } catch (cause) {
        const { errcode } = cause as { errcode?: number }
        if (errcode === notADatabase) truncateSync(file) // nothing is ever in it, so nothing is lost
        if (errcode !== undefined && errcode !== 5 && errcode !== notADatabase)
          throw unavailable(`The lock of the snapshot store failed`, cause)
        if (monotonicNow() > end) throw unavailable("Another process holds the snapshot store", cause)
        await wait(pause)
      }
    }
  }

  return {
    hold(work) {
      const result = queue.then(() => holdNow(work))
      queue = result.catch(() => {})
      return result
    },
    close() {
      database?.then((opened) => opened.close()).catch(() => {})
      database = undefined
      isQuiet = false
    },
  }
}

function unavailable(message: string, cause: unknown): KeepupError {
  return new KeepupError("UNAVAILABLE", `${message}.`, {
    cause,
    hint: "Wait for the other keepup command, then try again.",
  })
}
