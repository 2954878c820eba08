import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { type ArtifactPayload, artifactSchemas, type DefaultArtifactType } from "./artifact-types.js"

const image = `image_${"ab".repeat(32)}`
const otherImage = `image_${"cd".repeat(32)}`
const bounds = { x: 0, y: 0, width: 10, height: 5 }

const good: { readonly [Type in DefaultArtifactType]: ArtifactPayload<Type> } = {
  PlanCard: {
    goal: "ship",
    steps: [
      { id: "1", title: "build", status: "done" },
      { id: "2", title: "test", dependsOn: ["1"] },
    ],
    risks: ["time"],
  },
  DiffCard: {
    files: [
      { path: "a.ts", status: "modified", insertions: 1, deletions: 2, diff: "@@ -1 +1 @@" },
      { path: "b.png", previousPath: "c.png", status: "renamed", binary: true },
    ],
  },
  ReportCard: { summary: "done", status: "success", sections: [{ heading: "what", content: "" }], metrics: { n: 1 } },
  ChecklistCard: { items: [{ id: "a", title: "lint", checked: true }] },
  TestReport: { passed: 3, failed: 1, cases: [{ name: "adds", status: "failed", message: "no" }], coverage: 91.5 },
  ReviewReport: {
    summary: "fine",
    verdict: "changes-requested",
    findings: [{ severity: "high", message: "leak", path: "a.ts", line: 3 }],
  },
  ImageArtifact: { imageId: image, mediaType: "image/png", width: 10, height: 5 },
  LayoutGraph: {
    imageId: image,
    nodes: [
      { id: "page", kind: "page", bounds },
      { id: "button", kind: "button", parentId: "page" },
    ],
    edges: [{ from: "page", to: "button" }],
  },
  VisualDiffReport: {
    baselineImageId: image,
    candidateImageId: otherImage,
    changedPixels: 4,
    totalPixels: 50,
    passed: false,
    regions: [bounds],
  },
}

const bad: Readonly<Record<DefaultArtifactType, readonly (readonly [why: string, payload: object, place: string])[]>> =
  {
    PlanCard: [
      ["no step", { steps: [] }, "steps"],
      [
        "a step twice",
        {
          steps: [
            { id: "1", title: "a" },
            { id: "1", title: "b" },
          ],
        },
        "steps.1.id",
      ],
      ["a step after an unknown one", { steps: [{ id: "1", title: "a", dependsOn: ["9"] }] }, "steps.0.dependsOn"],
      ["a status nobody knows", { steps: [{ id: "1", title: "a", status: "maybe" }] }, "steps.0.status"],
    ],
    DiffCard: [
      ["no files", {}, "files"],
      ["a count below zero", { files: [{ path: "a", status: "added", insertions: -1 }] }, "files.0.insertions"],
      ["an empty path", { files: [{ path: "", status: "added" }] }, "files.0.path"],
    ],
    ReportCard: [["an empty summary", { summary: "" }, "summary"]],
    ChecklistCard: [
      ["a check that is no yes or no", { items: [{ id: "a", title: "a", checked: "yes" }] }, "items.0.checked"],
      [
        "an item twice",
        {
          items: [
            { id: "a", title: "a", checked: true },
            { id: "a", title: "b", checked: true },
          ],
        },
        "items.1.id",
      ],
    ],
    TestReport: [
      ["half a test", { passed: 0.5, failed: 0 }, "passed"],
      ["more than everything covered", { passed: 1, failed: 0, coverage: 101 }, "coverage"],
    ],
    ReviewReport: [
      ["no verdict", { summary: "x", findings: [] }, "verdict"],
      [
        "line zero",
        { summary: "x", verdict: "approved", findings: [{ severity: "low", message: "x", line: 0 }] },
        "findings.0.line",
      ],
    ],
    ImageArtifact: [
      ["a path for an id", { imageId: "../../etc/passwd", mediaType: "image/png" }, "imageId"],
      ["another kind of image", { imageId: image, mediaType: "image/svg+xml" }, "mediaType"],
      ["an image too large", { imageId: image, mediaType: "image/png", sizeBytes: 5 * 1024 * 1024 + 1 }, "sizeBytes"],
    ],
    LayoutGraph: [
      ["a parent that is not there", { nodes: [{ id: "a", kind: "box", parentId: "b" }] }, "nodes.0.parentId"],
      [
        "a node twice",
        {
          nodes: [
            { id: "a", kind: "box" },
            { id: "a", kind: "box" },
          ],
        },
        "nodes.1.id",
      ],
      ["an edge from nowhere", { nodes: [{ id: "a", kind: "box" }], edges: [{ from: "b", to: "a" }] }, "edges.0.from"],
      ["an edge to nowhere", { nodes: [{ id: "a", kind: "box" }], edges: [{ from: "a", to: "b" }] }, "edges.0.to"],
      [
        "a width below zero",
        { nodes: [{ id: "a", kind: "box", bounds: { ...bounds, width: -1 } }] },
        "nodes.0.bounds.width",
      ],
    ],
    VisualDiffReport: [
      ["more changed than there is", { ...good.VisualDiffReport, changedPixels: 51 }, "changedPixels"],
      ["no image to compare with", { ...good.VisualDiffReport, baselineImageId: "baseline.png" }, "baselineImageId"],
    ],
  }

const types = Object.keys(artifactSchemas) as DefaultArtifactType[]

describe("the default types", () => {
  it("are nine", () => {
    expect(types).toEqual([
      "PlanCard",
      "DiffCard",
      "ReportCard",
      "ChecklistCard",
      "TestReport",
      "ReviewReport",
      "ImageArtifact",
      "LayoutGraph",
      "VisualDiffReport",
    ])
  })

  it.each(types)("%s takes what it is made for, and keys of its own", (type) => {
    expect(artifactSchemas[type].safeParse(good[type])).toMatchObject({ success: true })
    expect(artifactSchemas[type].safeParse({ ...good[type], extra: [1] })).toMatchObject({ success: true })
  })

  it.each(types)("%s refuses what is no object", (type) => {
    for (const payload of [null, undefined, 1, "text", [], true, [good[type]]]) {
      expect(artifactSchemas[type].safeParse(payload).success).toBe(false)
    }
  })

  it.each(types.flatMap((type) => bad[type].map(([why, payload, place]) => ({ type, why, payload, place }))))(
    "$type refuses $why, and says where",
    ({ type, payload, place }) => {
      const { success, error } = artifactSchemas[type].safeParse(payload)
      expect(success).toBe(false)
      expect(error?.issues.map((issue) => issue.path.join("."))).toContain(place)
    },
  )

  it("are loaded by whoever needs them, not with the package: starting up stays cheap", () => {
    const sources = readdirSync(import.meta.dirname).filter((name) => /(?<!\.test)\.ts$/.test(name))
    const loading = sources.filter((name) =>
      /^(?:import|export) (?!type ).*from "(?:zod|@ku0\/agent-runtime-core\/schemas|\.\/artifact-types\.js)"/m.test(
        readFileSync(join(import.meta.dirname, name), "utf8"),
      ),
    )
    expect(loading).toEqual(["artifact-types.ts"])
  })
})
