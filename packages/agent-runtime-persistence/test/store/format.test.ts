/** docs/format.md is what another program reads a store by: it names every table, every column and the schema's version. */
import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { openStore } from "../../src/store/open-store.js"

it("is written down: every table with every column, under the version it has", async () => {
  const text = readFileSync(new URL("../../../../docs/format.md", import.meta.url), "utf8")
  const sections = text.split(/^## /m)
  const store = await openStore("memory:")
  const { driver } = store.context
  expect(text).toContain(`The schema here is version ${store.schemaVersion};`)
  const tables = await driver.all("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
  expect(tables.length).toBeGreaterThan(8)
  for (const { name } of tables) {
    const section = sections.find((part) => part.slice(0, part.indexOf("\n")).includes(`\`${name}\``))
    expect(section, `a section for ${name}`).toBeDefined()
    const columns = await driver.all(`SELECT name FROM pragma_table_info('${name}')`)
    const missing = columns.filter((column) => !section?.includes(`\`${column["name"]}\``))
    expect(missing.map((column) => `${name}.${column["name"]}`)).toEqual([])
  }
  await store.close()
})
