import { expect, it } from "vitest"
import { renderTree } from "./tree.js"

it("draws what comes from what", () => {
  const leaf = (text: string) => ({ text, children: [] })
  const tree = [{ text: "a", children: [{ text: "b", children: [leaf("c"), leaf("d")] }, leaf("e")] }, leaf("f")]
  expect(renderTree(tree)).toBe(["a", "|-- b", "|   |-- c", "|   `-- d", "`-- e", "f"].join("\n"))
})
