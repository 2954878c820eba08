import { expect, it } from "vitest"
import { listFolder } from "./list-folder.js"

const files = ["a.txt", "src/b.ts", "src/deep/c.ts", "src/deep/d.sh", "srcs/e", "z"].map((path) => ({
  path,
  mode: path === "z" ? "120000" : path.endsWith(".sh") ? "100755" : "100644",
}))
const paths = (options: Parameters<typeof listFolder>[1]) => listFolder(files, options).files.map(({ path }) => path)

it("lists all paths, or what lies directly in a folder, folders first", () => {
  expect(paths({})).toEqual(files.map(({ path }) => path))
  expect(paths({ folder: "" })).toEqual(["src", "srcs", "a.txt", "z"])
  expect(listFolder(files, { folder: "src" })).toEqual({
    files: [
      { path: "src/deep", kind: "folder" },
      { path: "src/b.ts", kind: "file" },
    ],
    ...{ total: 2, next: null },
  })
  expect(listFolder(files, { folder: "src/deep" }).files.map(({ kind }) => kind)).toEqual(["file", "program"])
  expect(listFolder(files, { q: "Z" }).files).toEqual([{ path: "z", kind: "link" }])
})

it("comes in pages without a gap", () => {
  const seen: string[] = []
  for (let after: string | undefined; ; ) {
    const page = listFolder(files, { limit: 2, ...(after !== undefined && { after }) })
    seen.push(...page.files.map(({ path }) => path))
    if (page.next === null) break
    after = page.next
  }
  expect(seen).toEqual(files.map(({ path }) => path))
})
