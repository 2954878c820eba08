/** The specification of a store as a test suite: every store must pass all of it. */
import { afterEach, describe } from "vitest"
import type { OpenStoreOptions, Store } from "../store/open-store.js"
import { describeArtifacts } from "./contract/artifacts.js"
import { describeCheckpoints } from "./contract/checkpoints.js"
import { describeHistory } from "./contract/history.js"
import { describeLeases } from "./contract/leases.js"
import { describeLog } from "./contract/log.js"
import { describeMaintenance } from "./contract/maintenance.js"
import { describeOverview } from "./contract/overview.js"
import { describeSessions } from "./contract/sessions.js"
import { describeState } from "./contract/state.js"

export interface StoreFixture {
  /** Opens a store on an empty database of its own. */
  open(options?: OpenStoreOptions): Promise<Store>
  /** Opens a second store on the database of the last `open`, as another process would. `undefined` if that can't be. */
  openAgain?(options?: OpenStoreOptions): Promise<Store>
  /** Called after each test. */
  cleanUp(): Promise<void>
}

export function describeStore(name: string, fixture: StoreFixture): void {
  describe(`a store on ${name}`, () => {
    const opened: Store[] = []
    const tracked: StoreFixture = {
      ...fixture,
      open: async (options) => track(await fixture.open(options)),
    }
    const { openAgain } = fixture
    if (openAgain !== undefined) tracked.openAgain = async (options) => track(await openAgain(options))

    function track(store: Store): Store {
      opened.push(store)
      return store
    }

    afterEach(async () => {
      for (const store of opened.splice(0)) await store.close()
      await fixture.cleanUp()
    })

    describeSessions(tracked)
    describeLog(tracked)
    describeHistory(tracked)
    describeState(tracked)
    describeCheckpoints(tracked)
    describeLeases(tracked)
    describeArtifacts(tracked)
    describeMaintenance(tracked)
    describeOverview(tracked)
  })
}
