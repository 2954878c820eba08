import { describe, it } from "vitest"
import { expectSameOfRandomTrees } from "./asked-and-walked.js"
import { expectExactRestores } from "./random-trees.js"

describe("random trees, many", () => {
  it("are the same whether git lists what it does not track or folders are walked", () => expectSameOfRandomTrees(25))
  it("are restored exactly without git", () => expectExactRestores({ git: false, watch: false }, 30))
  it("are restored exactly in the user's repository", () => expectExactRestores({ git: true, watch: false }, 30))
  it("are restored exactly while a watcher hints", () => expectExactRestores({ git: true, watch: true }, 30))
})
