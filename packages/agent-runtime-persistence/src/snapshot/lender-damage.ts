/**
 * A note in the store that what the user's repository lends can't all be read. Then every file of the workspace is read
 * once, whichever process comes next. Only once: content that is in no file any more would not come back that way.
 */
import { join } from "node:path"
import { replaceFile } from "./durable-file.js"
import { readText } from "./user-repository.js"

const fileName = "lender-damage"
const found = "found\n"

export function noteLenderDamage(store: string): void {
  if (readText(join(store, fileName)) === undefined) replaceFile(join(store, fileName), found, { durable: false })
}

/** Whether every file must still be read because of it. */
export function hasLenderDamage(store: string): boolean {
  return readText(join(store, fileName)) === found
}

export function settleLenderDamage(store: string): void {
  replaceFile(join(store, fileName), "every file was read\n", { durable: false })
}
