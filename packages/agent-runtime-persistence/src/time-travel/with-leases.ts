/** Holds the session and the workspace while something changes both. Refused while someone else holds one of them. */
import type { HeldLease, Lease, Session } from "@ku0/agent-runtime-core"
import { leaseName } from "../session/lease-row.js"
import type { TimeTravelContext } from "./time-travel-context.js"

export const restoreRefusal = "Cannot restore checkpoint while a task is running."

/** `own` is a lease on the session that the caller holds already; it also stands for the workspace. */
export async function withLeases<Result>(
  { store }: TimeTravelContext,
  session: Session,
  own: HeldLease | undefined,
  work: (lease: Lease) => Promise<Result>,
): Promise<Result> {
  if (own !== undefined) return await work(own)
  const resources = [leaseName("session", session.id), leaseName("workspace", session.workspacePath)]
  const { leases, release } = await store.leases.takeTogether(resources, {
    purpose: "restore",
    refusal: restoreRefusal,
  })
  try {
    return await work(leases[0] as Lease)
  } finally {
    await release().catch(() => undefined) // it is lost after its lifetime; what the work came to counts more
  }
}
