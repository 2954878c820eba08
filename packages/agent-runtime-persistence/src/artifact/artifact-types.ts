/** The nine kinds of artifact keepup knows by itself, all in version 1.0.0. Keys beyond these are kept and not judged. */
import { z } from "@ku0/agent-runtime-core/schemas"

/** The version of every default schema. */
export const artifactSchemaVersion = "1.0.0"

const text = z.string()
const label = z.string().min(1).max(1_000)
const path = z.string().min(1).max(4_096)
const count = z.number().int().nonnegative()
const milliseconds = z.number().nonnegative()
const imageId = z.string().regex(/^image_[0-9a-f]{64}$/, "expected the id of an image")
const bounds = z.object({
  x: z.number(),
  y: z.number(),
  width: z.number().nonnegative(),
  height: z.number().nonnegative(),
})

/** What the agent means to do, step by step. */
const planCard = z
  .object({
    goal: text.optional(),
    summary: text.optional(),
    steps: z
      .array(
        z.object({
          id: label,
          title: label,
          detail: text.optional(),
          status: z.enum(["pending", "in-progress", "done", "failed", "skipped"]).optional(),
          dependsOn: z.array(label).optional(),
        }),
      )
      .min(1),
    assumptions: z.array(text).optional(),
    risks: z.array(text).optional(),
  })
  .superRefine(({ steps }, context) => {
    const known = reportRepeated(steps, "steps", context)
    for (const [i, { dependsOn = [] }] of steps.entries()) {
      for (const id of dependsOn) reportUnknown(known, id, ["steps", i, "dependsOn"], context)
    }
  })

/** Changes of files, as a proposal or as what was done. */
const diffCard = z.object({
  summary: text.optional(),
  base: text.optional(),
  head: text.optional(),
  files: z.array(
    z.object({
      path,
      previousPath: path.optional(),
      status: z.enum(["added", "modified", "deleted", "renamed"]),
      insertions: count.optional(),
      deletions: count.optional(),
      binary: z.boolean().optional(),
      /** Unified diff. */
      diff: text.optional(),
    }),
  ),
})

/** What was found out or done, in words. */
const reportCard = z.object({
  summary: text.min(1),
  status: z.enum(["success", "partial", "failure"]).optional(),
  sections: z.array(z.object({ heading: label, content: text })).optional(),
  sources: z.array(z.object({ title: label, location: text.optional() })).optional(),
  metrics: z.record(text, z.union([z.number(), text, z.boolean()])).optional(),
})

const checklistCard = z
  .object({
    items: z.array(z.object({ id: label, title: label, checked: z.boolean(), note: text.optional() })).min(1),
  })
  .superRefine(({ items }, context) => {
    reportRepeated(items, "items", context)
  })

const testReport = z.object({
  command: text.optional(),
  framework: text.optional(),
  passed: count,
  failed: count,
  skipped: count.optional(),
  durationMs: milliseconds.optional(),
  cases: z
    .array(
      z.object({
        name: text.min(1),
        status: z.enum(["passed", "failed", "skipped"]),
        file: path.optional(),
        durationMs: milliseconds.optional(),
        message: text.optional(),
      }),
    )
    .optional(),
  coverage: z.number().min(0).max(100).optional(),
})

const reviewReport = z.object({
  summary: text,
  verdict: z.enum(["approved", "changes-requested", "commented"]),
  findings: z.array(
    z.object({
      severity: z.enum(["info", "low", "medium", "high", "critical"]),
      message: text.min(1),
      path: path.optional(),
      line: z.number().int().positive().optional(),
      endLine: z.number().int().positive().optional(),
      suggestion: text.optional(),
    }),
  ),
})

/** A card about an image that is kept on its own. */
const imageArtifact = z.object({
  imageId,
  mediaType: z.enum(["image/png", "image/jpeg", "image/webp"]),
  sizeBytes: count.max(5 * 1024 * 1024).optional(),
  width: z.number().int().positive().optional(),
  height: z.number().int().positive().optional(),
  alt: text.optional(),
  sourceUrl: text.optional(),
})

/** What stands where on a screen or page. */
const layoutGraph = z
  .object({
    imageId: imageId.optional(),
    width: z.number().positive().optional(),
    height: z.number().positive().optional(),
    nodes: z.array(
      z.object({
        id: label,
        kind: label,
        label: text.optional(),
        parentId: label.optional(),
        bounds: bounds.optional(),
      }),
    ),
    edges: z.array(z.object({ from: label, to: label, kind: text.optional() })).optional(),
  })
  .superRefine(({ nodes, edges = [] }, context) => {
    const known = reportRepeated(nodes, "nodes", context)
    for (const [i, { parentId }] of nodes.entries()) {
      if (parentId !== undefined) reportUnknown(known, parentId, ["nodes", i, "parentId"], context)
    }
    for (const [i, { from, to }] of edges.entries()) {
      reportUnknown(known, from, ["edges", i, "from"], context)
      reportUnknown(known, to, ["edges", i, "to"], context)
    }
  })

const visualDiffReport = z
  .object({
    baselineImageId: imageId,
    candidateImageId: imageId,
    diffImageId: imageId.optional(),
    changedPixels: count,
    totalPixels: count.min(1),
    threshold: z.number().min(0).max(1).optional(),
    passed: z.boolean(),
    regions: z.array(bounds.extend({ label: text.optional() })).optional(),
    summary: text.optional(),
  })
  .refine(({ changedPixels, totalPixels }) => changedPixels <= totalPixels, {
    path: ["changedPixels"],
    message: "expected at most totalPixels",
  })

/** Type → schema of its payload. */
export const artifactSchemas = {
  PlanCard: planCard,
  DiffCard: diffCard,
  ReportCard: reportCard,
  ChecklistCard: checklistCard,
  TestReport: testReport,
  ReviewReport: reviewReport,
  ImageArtifact: imageArtifact,
  LayoutGraph: layoutGraph,
  VisualDiffReport: visualDiffReport,
} as const

export type DefaultArtifactType = keyof typeof artifactSchemas

/** What an artifact of a default type carries. */
export type ArtifactPayload<Type extends DefaultArtifactType> = z.infer<(typeof artifactSchemas)[Type]>

interface IssueSink {
  addIssue(issue: { code: "custom"; path: PropertyKey[]; message: string }): void
}

/** The ids of a list; one that comes twice is a fault. */
function reportRepeated(list: readonly { readonly id: string }[], name: string, context: IssueSink): Set<string> {
  const known = new Set<string>()
  for (const [i, { id }] of list.entries()) {
    if (known.has(id)) context.addIssue({ code: "custom", path: [name, i, "id"], message: `${id} comes twice` })
    known.add(id)
  }
  return known
}

function reportUnknown(known: ReadonlySet<string>, id: string, at: PropertyKey[], context: IssueSink): void {
  if (!known.has(id)) context.addIssue({ code: "custom", path: at, message: `there is no ${id}` })
}
