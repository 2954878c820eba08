import pg from "pg"
import { afterAll, beforeAll } from "vitest"
import { openStore } from "../../src/store/open-store.js"
import { type PostgresServer, startPostgres } from "../../src/testing/start-postgres.js"
import { describeStore } from "../../src/testing/store-contract.js"

let server: PostgresServer
let database = ""
let schemas = 0

beforeAll(async () => {
  server = await startPostgres({ settings: { fsync: "off" } }) // what survives a crash is proven elsewhere
  database = await server.createDatabase()
})
afterAll(() => server.stop())

/** A schema for each test: making a database takes a hundred times as long. */
async function createSchema(): Promise<void> {
  const client = new pg.Client({ connectionString: database })
  await client.connect()
  await client.query(`CREATE SCHEMA test_${++schemas}`)
  await client.end()
}

const address = () => `${database}?options=${encodeURIComponent(`-c search_path=test_${schemas}`)}`

describeStore("PostgreSQL", {
  async open(options) {
    await createSchema()
    return await openStore(address(), options)
  },
  openAgain: (options) => openStore(address(), options),
  cleanUp: async () => undefined,
})
