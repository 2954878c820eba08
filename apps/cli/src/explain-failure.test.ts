import { closeSync, openSync, readFileSync, writeSync } from "node:fs"
import { createServer } from "node:net"
import { expect, it } from "vitest"
import { explainFailure } from "./explain-failure.js"

function thrownBy(work: () => void): unknown {
  try {
    work()
  } catch (error) {
    return error
  }
  return undefined
}

it("tells trouble with the disk from a bug", () => {
  const full = openSync("/dev/full", "w")
  const { code, message, hint } = explainFailure(thrownBy(() => writeSync(full, "x")))
  closeSync(full)
  expect({ code, message, hint }).toEqual({
    code: "UNAVAILABLE",
    message: "Can't go on: the disk is full (ENOSPC).",
    hint: "Free disk space and try again. Everything kept before is still there.",
  })
})

it("calls a file that is missing where nobody expected it a bug, and anything else", () => {
  expect(explainFailure(thrownBy(() => readFileSync("/no/such/file"))).code).toBe("INTERNAL")
  expect(explainFailure(new TypeError("x is not a function")).code).toBe("INTERNAL")
  expect(explainFailure(undefined).code).toBe("INTERNAL")
})

it("leaves the network alone", async () => {
  const error = await new Promise((resolve) => createServer().once("error", resolve).listen("/proc/no/socket"))
  expect(explainFailure(error).code).toBe("INTERNAL")
})
