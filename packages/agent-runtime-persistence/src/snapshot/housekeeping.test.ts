/** Tidying waits until nobody uses the store, is never forgotten, and fails nobody. */
import { afterEach, beforeEach, expect, it, vi } from "vitest"
import { createHousekeeping } from "./housekeeping.js"

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function keep() {
  const done: string[] = []
  const house = createHousekeeping((work) => work())
  const work = (name: string) => async () => void done.push(name)
  return { done, house, work }
}

it("begins what can wait a moment after the last use, not while uses follow each other", async () => {
  const { done, house, work } = keep()
  house.startWhenQuiet(work("tidy"))
  for (let i = 0; i < 20; i++) {
    await vi.advanceTimersByTimeAsync(150)
    await house.use(async () => {})
  }
  expect(done).toEqual([])
  await vi.advanceTimersByTimeAsync(1_000)
  expect(done).toEqual(["tidy"])
})

it("does not begin while a use goes on, however long it takes, also beside another one", async () => {
  const { done, house, work } = keep()
  let end = () => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const long = house.use(() => ended)
  await house.use(async () => house.startWhenQuiet(work("tidy")))
  await vi.advanceTimersByTimeAsync(60_000)
  expect(done).toEqual([])
  end()
  await long
  await vi.advanceTimersByTimeAsync(1_000)
  expect(done).toEqual(["tidy"])
})

it("waits a moment after a use that failed too, and hands its error on", async () => {
  const { done, house, work } = keep()
  await expect(house.use(() => Promise.reject(new Error("no room")))).rejects.toThrow("no room")
  house.startWhenQuiet(work("tidy"))
  await vi.advanceTimersByTimeAsync(1_000)
  expect(done).toEqual(["tidy"])
})

it("ends what waits and what runs when it is asked to, once and in order", async () => {
  const { done, house, work } = keep()
  house.startWhenQuiet(work("older"))
  house.startWhenQuiet(work("tidy"))
  house.start(work("urgent"))
  await house.finish()
  expect(done).toEqual(["urgent", "tidy"])
  await vi.advanceTimersByTimeAsync(60_000)
  await house.finish()
  expect(done).toEqual(["urgent", "tidy"])
})

it("goes on with the next piece of work when one fails", async () => {
  const { done, house, work } = keep()
  house.start(() => Promise.reject(new Error("broken")))
  house.start(work("next"))
  await house.finish()
  expect(done).toEqual(["next"])
})

it("is closed when the last use has ended and its tidying is done; from then on nothing begins", async () => {
  const { done, house, work } = keep()
  let end = () => {}
  const long = house.use(async () => {
    await new Promise<void>((resolve) => {
      end = resolve
    })
    house.startWhenQuiet(work("tidy"))
  })
  let isClosed = false
  const closing = house.close().then(() => {
    isClosed = true
  })
  await vi.advanceTimersByTimeAsync(1_000)
  expect(isClosed).toBe(false)
  end()
  await long
  await closing
  expect(done).toEqual(["tidy"])
  house.start(work("late"))
  house.startWhenQuiet(work("later"))
  await vi.advanceTimersByTimeAsync(60_000)
  expect(done).toEqual(["tidy"])
})
