import { afterAll, beforeAll } from "vitest"
import { openStore } from "../../src/store/open-store.js"
import { describeExecutionState } from "../../src/testing/execution-state-contract.js"
import { type PostgresServer, startPostgres } from "../../src/testing/start-postgres.js"

let server: PostgresServer

beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.stop())

describeExecutionState("PostgreSQL", async () => openStore(await server.createDatabase()))
