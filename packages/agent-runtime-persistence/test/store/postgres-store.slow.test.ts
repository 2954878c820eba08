import { afterAll, beforeAll } from "vitest"
import { openStore } from "../../src/store/open-store.js"
import { type PostgresServer, startPostgres } from "../../src/testing/start-postgres.js"
import { describeStore } from "../../src/testing/store-contract.js"

let server: PostgresServer
let url = ""

beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.stop())

describeStore("PostgreSQL", {
  async open(options) {
    url = await server.createDatabase()
    return await openStore(url, options)
  },
  openAgain: (options) => openStore(url, options),
  cleanUp: async () => undefined,
})
