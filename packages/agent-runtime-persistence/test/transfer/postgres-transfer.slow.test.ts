import { afterAll, beforeAll } from "vitest"
import { openStore } from "../../src/store/open-store.js"
import { type PostgresServer, startPostgres } from "../../src/testing/start-postgres.js"
import { describeTransfer } from "../../src/testing/transfer-contract.js"

let server: PostgresServer

beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.stop())

describeTransfer("PostgreSQL", { numRuns: 40, open: async () => openStore(await server.createDatabase()) })
