import { expect, it } from "vitest"
import { suggest } from "./suggest.js"

it.each([
  ["lsit", ["list"]],
  ["restor", ["restore"]],
  ["REPLAY", ["replay"]],
  ["play", ["replay"]],
  ["zzz", []],
])("for %s offers %j", (wanted, near) => {
  expect(suggest(wanted, ["list", "restore", "replay", "list"])).toEqual(near)
})
