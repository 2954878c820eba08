import { describe, it } from "vitest"
import { expectExactRestores } from "../../test/snapshot/random-trees.js"

describe("random trees, a few; test/snapshot has many", () => {
  it("are restored exactly without git", () => expectExactRestores({ git: false, watch: false }, 5))
  it("are restored exactly in the user's repository", () => expectExactRestores({ git: true, watch: false }, 5))
  it("are restored exactly while a watcher hints", () => expectExactRestores({ git: true, watch: true }, 5))
})
