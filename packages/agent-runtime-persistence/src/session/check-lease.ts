/** Fencing: whoever lost its lease, or never had one while another lives, writes nothing. */
import { KeepupError, type Lease, type SessionId, shortId } from "@ku0/agent-runtime-core"
import type { SqlRunner } from "../store/sql-driver.js"
import type { StoreContext } from "../store/store-context.js"
import { isHeld, type LeaseRow, leaseName, sharedNow, toLeaseRow } from "./lease-row.js"

/** Throws unless the caller may write to the session now. Runs inside the transaction of the write. */
export async function checkLease(
  context: StoreContext,
  tx: SqlRunner,
  sessionId: SessionId,
  lease: Lease | undefined,
): Promise<void> {
  const resource = leaseName("session", sessionId)
  if (lease !== undefined && lease.resource !== resource) {
    throw new KeepupError("INVALID_INPUT", `The lease on ${lease.resource} gives no right to write to ${resource}.`)
  }
  const columns = lease === undefined ? "*" : "number, holder_id"
  const found = await tx.get(`SELECT ${columns} FROM leases WHERE resource = ?${context.driver.forUpdate}`, [resource])
  if (lease !== undefined) {
    const current = found && Number(found["number"])
    if (current === lease.number && found?.["holder_id"] === lease.holder.id) return
    throw new KeepupError("CONFLICT", `The lease on ${resource} was lost: someone else holds the session now.`, {
      hint: "Stop writing, reload the session, and take the lease again.",
      details: { number: lease.number, current },
    })
  }
  const row = found && toLeaseRow(found)
  if (row !== undefined && (await isHeld(row, await sharedNow(context, tx), context.host))) throw running(row)
}

type Holding = Pick<LeaseRow, "resource" | "purpose" | "pid" | "host" | "acquiredAt">

/** The refusal: who holds it, and since when. `message` gives the words of a caller that has its own. */
export function running(row: Holding, message?: string): KeepupError {
  const holder = `${row.purpose} (pid ${row.pid} on ${row.host.split("/")[0]}) since ${new Date(row.acquiredAt).toISOString()}`
  return new KeepupError("SESSION_RUNNING", `${message ?? `${describe(row.resource)} is in use.`} Held by ${holder}.`, {
    hint: "Wait for it to end, or ask it to stop with `keepup pause`.",
    details: { resource: row.resource, pid: row.pid, host: row.host, purpose: row.purpose, since: row.acquiredAt },
  })
}

/** `session:ID` and `workspace:PATH` as people say them. */
function describe(resource: string): string {
  const [, kind, name = ""] = /^(session|workspace):(.*)$/s.exec(resource) ?? []
  if (kind === undefined) return resource
  return kind === "session" ? `Session ${shortId(name as SessionId)}` : `The workspace ${name}`
}
