/** Gives leases back whose holders are gone. They block nobody, but they make people look twice. */
import { isHeld, sharedNow, toLeaseRow } from "../session/lease-row.js"
import type { TimeTravelContext } from "../time-travel/time-travel-context.js"

export async function releaseStale({ store }: TimeTravelContext): Promise<void> {
  const { driver, host } = store.context
  const now = await sharedNow(store.context, driver)
  for (const lease of (await driver.all("SELECT * FROM leases WHERE holder_id IS NOT NULL")).map(toLeaseRow)) {
    if (await isHeld(lease, now, host)) continue
    await driver.run("UPDATE leases SET holder_id = NULL WHERE resource = ? AND number = ?", [
      lease.resource,
      lease.number,
    ])
  }
}
