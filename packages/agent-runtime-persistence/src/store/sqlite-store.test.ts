import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describeStore } from "../testing/store-contract.js"
import { openStore } from "./open-store.js"

let folders: string[] = []

describeStore("SQLite", {
  async open(options) {
    folders.push(mkdtempSync(join(tmpdir(), "keepup-store-")))
    return await openStore(`sqlite:${join(folders.at(-1) as string, "keepup.db")}`, options)
  },
  openAgain: (options) => openStore(`sqlite:${join(folders.at(-1) as string, "keepup.db")}`, options),
  async cleanUp() {
    for (const folder of folders) rmSync(folder, { recursive: true })
    folders = []
  },
})
