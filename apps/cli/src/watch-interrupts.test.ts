import { KeepupError } from "@ku0/agent-runtime"
import { beforeEach, expect, it } from "vitest"
import type { Machine } from "./machine.js"
import { type Interrupts, isCutOff, watchInterrupts } from "./watch-interrupts.js"

let interrupt: () => void
let exits: number[]
let told: string[]
let interrupts: Interrupts

beforeEach(() => {
  exits = []
  told = []
  const machine = {
    onInterrupt(listener: (signal: "SIGINT") => void) {
      interrupt = () => listener("SIGINT")
    },
    exit: (code: number) => exits.push(code),
  }
  interrupts = watchInterrupts(machine as unknown as Machine, (text) => told.push(text))
})

const never = () => new Promise<never>(() => undefined)

it("cuts off a command that holds nothing", async () => {
  const raced = interrupts.race(never())
  interrupt()
  const error = await raced.catch((reason: unknown) => reason)
  expect(error).toMatchObject({ code: "CANCELLED", message: "Stopped by a signal." })
  expect(isCutOff(error)).toBe(true)
  expect(interrupts.signal.aborted).toBe(true)
})

it("finishes what must not be half done, says so, and lets the command say its answer", async () => {
  let finish: () => void = () => undefined
  const said: string[] = []
  const command = async () => {
    const work = () => new Promise<void>((resolve) => (finish = resolve))
    await interrupts.hold(work, { finishing: "The restore", stopped: "never said" })
    said.push("Restored.")
  }
  const raced = interrupts.race(command())
  interrupt()
  expect(told).toEqual([expect.stringMatching(/^The restore is not left half done\. Ctrl-C again ends at once/)])
  finish()
  expect(await raced).toBe(true)
  expect(said).toEqual(["Restored."])
  expect(told[1]).toBe("It was finished before the signal could stop it.")
})

it("says how things are when the work was stopped, and keeps an error of another kind", async () => {
  const stopBy = (error: unknown) => () =>
    new Promise<never>((_, reject) => interrupts.signal.addEventListener("abort", () => reject(error)))
  const words = { stopped: "Nothing was changed." }
  const gone = interrupts.hold(stopBy(Object.assign(new Error("aborted"), { name: "AbortError" })), words)
  const cancelled = interrupts.hold(stopBy(new KeepupError("CANCELLED", "by the loop")), words)
  const broken = interrupts.hold(stopBy(new KeepupError("UNAVAILABLE", "The disk is full.")), words)
  const ends = Promise.allSettled([gone, cancelled, broken])
  interrupt()
  expect((await ends).map((end) => end.status === "rejected" && end.reason.message)).toEqual([
    "Nothing was changed.",
    "Nothing was changed.",
    "The disk is full.",
  ])
  expect(told).toEqual([])
})

it("is silent where nothing came, and ends the process at the second signal", async () => {
  expect(await interrupts.race(interrupts.hold(async () => undefined))).toBe(false)
  const raced = interrupts.race(interrupts.hold(never, { finishing: "The restore" }))
  interrupt()
  interrupt()
  expect(exits).toEqual([130])
  await Promise.race([raced, Promise.resolve()])
})
