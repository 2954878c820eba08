/**
 * Leases: who may change a session or a workspace now. A row in the store, so that every process sees the same truth.
 * Each taking gets a higher number; writes carry it, so a holder that was replaced can't write any more.
 */
import {
  type HeldLease,
  KeepupError,
  type Lease,
  type LeaseStore,
  type TakeLeaseOptions,
} from "@ku0/agent-runtime-core"
import type { SqlRunner } from "../store/sql-driver.js"
import type { StoreContext } from "../store/store-context.js"
import { running } from "./check-lease.js"
import { heartbeatMs, isHeld, type LeaseRow, leaseName, lifetimeMs, sharedNow, toLeaseRow } from "./lease-row.js"
import { ownProcess } from "./process-identity.js"

export interface OpenLeaseStore extends LeaseStore {
  /** All of them or none, in one step, and given back in one step. The first one that is held is why it is refused. */
  takeTogether(resources: readonly string[], options: TakeLeaseOptions): Promise<LeasesTogether>
  /** Gives back whatever this process still holds. */
  releaseAll(): Promise<void>
}

export interface LeasesTogether {
  /** In the order they were asked for. */
  readonly leases: readonly HeldLease[]
  /** Gives all of them back. Safe to call twice. */
  release(): Promise<void>
}

/** After a power cut no holder is alive on this machine. What it writes under a lease takes the lease to disk with it. */
const gone = { durable: false }
const resourceShape = /^(session|workspace):./s
const workspaces = leaseName("workspace", "")

export function createLeaseStore(context: StoreContext): OpenLeaseStore {
  const { driver } = context
  const held = new Set<OpenLease>()

  async function take(resource: string, options: TakeLeaseOptions): Promise<HeldLease> {
    const { leases } = await takeTogether([resource], options)
    return leases[0] as HeldLease
  }

  async function takeTogether(resources: readonly string[], options: TakeLeaseOptions): Promise<LeasesTogether> {
    for (const resource of resources) {
      if (resourceShape.test(resource)) continue
      throw new KeepupError("INVALID_INPUT", `Not something one can take a lease on: ${JSON.stringify(resource)}.`, {
        hint: "Name it session:ID or workspace:PATH.",
      })
    }
    const self = await ownProcess()
    const takeAll = async (tx: SqlRunner) => {
      const taken: LeaseRow[] = []
      for (const resource of resources) taken.push(await takeRow(tx, resource, self, options))
      return taken
    }
    const rows = await driver.transaction("lease", takeAll, gone)
    const leases = rows.map((row) => hold(toLease(row)))
    return { leases, release: () => giveBack(leases) }
  }

  async function takeRow(
    tx: SqlRunner,
    resource: string,
    self: Awaited<ReturnType<typeof ownProcess>>,
    { purpose, refusal }: TakeLeaseOptions,
  ): Promise<LeaseRow> {
    if (resource.startsWith(workspaces)) await lockWorkspaces(tx)
    const now = await sharedNow(context, tx)
    const current = (await lockRow(tx, resource)) ?? (await makeRow(tx, resource))
    if (await isHeld(current, now, context.host)) throw running(current, refusal)
    for (const other of await listOverlapping(tx, resource)) {
      if (await isHeld(other, now, context.host)) throw running(other, refusal)
    }
    const taken: LeaseRow = {
      ...{ resource, number: current.number + 1, holderId: context.ids.next(), host: context.host },
      ...{ pid: self.pid, processStart: self.start, purpose, acquiredAt: now, renewedAt: now },
    }
    await tx.run(
      `UPDATE leases SET number = ?, holder_id = ?, host = ?, pid = ?, process_start = ?, purpose = ?,
       acquired_at = ?, renewed_at = ? WHERE resource = ?`,
      [taken.number, taken.holderId, taken.host, taken.pid, taken.processStart, purpose, now, now, resource],
    )
    return taken
  }

  /**
   * One after the other: who waits then sees what the one before took, on a folder around it or inside it. Where no row
   * can be locked there is one who writes anyway.
   */
  async function lockWorkspaces(tx: SqlRunner): Promise<void> {
    if (driver.forUpdate !== "") (await lockRow(tx, workspaces)) ?? (await makeRow(tx, workspaces))
  }

  /** The first time someone wants it. */
  async function makeRow(tx: SqlRunner, resource: string): Promise<LeaseRow> {
    await tx.run(
      `INSERT INTO leases (resource, number, holder_id, host, pid, process_start, purpose, acquired_at, renewed_at)
       VALUES (?, 0, NULL, '', 0, '', '', 0, 0) ON CONFLICT (resource) DO NOTHING`,
      [resource],
    )
    const row = await lockRow(tx, resource)
    if (row === undefined) throw new Error(`BUG: no lease row for ${resource}`)
    return row
  }

  /** Of a workspace: the leases on folders inside it and around it, whose files are its own too. */
  async function listOverlapping(tx: SqlRunner, resource: string): Promise<LeaseRow[]> {
    if (!resource.startsWith(workspaces)) return []
    const rows = await tx.all("SELECT * FROM leases WHERE holder_id IS NOT NULL AND resource LIKE ?", [
      `${workspaces}%`,
    ])
    const isInside = (inner: string, outer: string) => inner.startsWith(`${outer}/`)
    return rows.map(toLeaseRow).filter((row) => isInside(row.resource, resource) || isInside(resource, row.resource))
  }

  async function giveBack(leases: readonly OpenLease[]): Promise<void> {
    const open = leases.filter((lease) => held.has(lease))
    for (const lease of leases) lease.stop()
    if (open.length === 0) return
    const release = async (tx: SqlRunner) => {
      for (const { resource, number, holder } of open) {
        await tx.run("UPDATE leases SET holder_id = NULL WHERE resource = ? AND number = ? AND holder_id = ?", [
          resource,
          number,
          holder.id,
        ])
      }
    }
    await driver.transaction("release", release, gone)
    for (const lease of open) held.delete(lease)
  }

  async function lockRow(tx: SqlRunner, resource: string): Promise<LeaseRow | undefined> {
    const row = await tx.get(`SELECT * FROM leases WHERE resource = ?${driver.forUpdate}`, [resource])
    return row && toLeaseRow(row)
  }

  /** Renews until it is given back or lost. */
  function hold(lease: Lease): OpenLease {
    const lost = new AbortController()
    let lastRenewal = performance.now()
    let isGivenBack = false // a renewal may still be under way then, and finds nothing to renew
    const timer = setInterval(() => void renew(), heartbeatMs)
    timer.unref()

    async function renew(): Promise<void> {
      try {
        if (await renewRow(lease)) lastRenewal = performance.now()
        else if (!isGivenBack)
          lose(new KeepupError("CONFLICT", `The lease on ${lease.resource} was taken by someone else.`))
      } catch (error) {
        // the store may be back in time for the next beat; silent for a lifetime means others may take over
        if (performance.now() - lastRenewal > lifetimeMs) lose(error)
      }
    }

    function lose(reason: unknown): void {
      clearInterval(timer)
      held.delete(handle)
      lost.abort(reason)
    }

    const handle: OpenLease = {
      ...lease,
      lost: lost.signal,
      stop() {
        clearInterval(timer)
        isGivenBack = true
      },
      release: () => giveBack([handle]),
    }
    held.add(handle)
    return handle
  }

  async function renewRow(lease: Lease): Promise<boolean> {
    const changed = await driver.transaction("renew", async (tx) =>
      tx.run("UPDATE leases SET renewed_at = ? WHERE resource = ? AND number = ? AND holder_id = ?", [
        await sharedNow(context, tx),
        lease.resource,
        lease.number,
        lease.holder.id,
      ]),
    )
    return changed === 1
  }

  async function find(resource: string): Promise<Lease | undefined> {
    const row = await driver.get("SELECT * FROM leases WHERE resource = ?", [resource])
    if (row === undefined) return undefined
    const lease = toLeaseRow(row)
    return (await isHeld(lease, await sharedNow(context, driver), context.host)) ? toLease(lease) : undefined
  }

  return { take, takeTogether, find, releaseAll: () => giveBack([...held]) }
}

interface OpenLease extends HeldLease {
  /** Renews it no more. */
  stop(): void
}

function toLease(row: LeaseRow): Lease {
  return {
    resource: row.resource,
    number: row.number,
    holder: {
      id: row.holderId as string,
      host: row.host,
      pid: row.pid,
      processStart: row.processStart,
      purpose: row.purpose,
      acquiredAt: row.acquiredAt,
    },
  }
}
