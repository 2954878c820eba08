import { describe, it } from "vitest"
import { expectExactRestores } from "./random-trees.js"

describe("random trees, many", () => {
  it("are restored exactly without git", () => expectExactRestores({ git: false, watch: false }, 30))
  it("are restored exactly in the user's repository", () => expectExactRestores({ git: true, watch: false }, 30))
  it("are restored exactly while a watcher hints", () => expectExactRestores({ git: true, watch: true }, 30))
})
