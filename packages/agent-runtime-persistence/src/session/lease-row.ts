/** A lease as it is stored, and when it counts as held. */
import type { SqlRow, SqlRunner } from "../store/sql-driver.js"
import type { StoreContext } from "../store/store-context.js"
import { isProcessAlive } from "./process-identity.js"

/** A holder renews this often … */
export const heartbeatMs = 5_000
/** … and has lost the lease after this long without. */
export const lifetimeMs = 30_000

export interface LeaseRow {
  readonly resource: string
  readonly number: number
  /** `null` once it was given back: the row stays, so that numbers never go down. */
  readonly holderId: string | null
  readonly host: string
  readonly pid: number
  readonly processStart: string
  readonly purpose: string
  readonly acquiredAt: number
  readonly renewedAt: number
}

export function leaseName(kind: "session" | "workspace", name: string): string {
  return `${kind}:${name}`
}

export function toLeaseRow(row: SqlRow): LeaseRow {
  return {
    resource: String(row["resource"]),
    number: Number(row["number"]),
    holderId: row["holder_id"] as string | null,
    host: String(row["host"]),
    pid: Number(row["pid"]),
    processStart: String(row["process_start"]),
    purpose: String(row["purpose"]),
    acquiredAt: Number(row["acquired_at"]),
    renewedAt: Number(row["renewed_at"]),
  }
}

/**
 * Whether someone holds it now, seen from `host`. A holder silent for longer than the lifetime does not; one whose process is gone from
 * this host does not, at once. If the clock was set back by more than the lifetime, the last renewal lies in the
 * future: then only a living process on this host counts.
 */
export async function isHeld(row: LeaseRow, now: number, host: string): Promise<boolean> {
  if (row.holderId === null || now - row.renewedAt > lifetimeMs) return false
  const alive = await isProcessAlive({ host: row.host, pid: row.pid, start: row.processStart }, host)
  return alive ?? row.renewedAt - now <= lifetimeMs
}

/** Time by the clock that all users of the store share. */
export async function sharedNow(context: StoreContext, runner: SqlRunner): Promise<number> {
  const { selectNow } = context.driver
  return selectNow === undefined ? context.clock.now() : Number((await runner.get(selectNow))?.["now"])
}
