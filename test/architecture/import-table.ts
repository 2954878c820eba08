/** Who may import whom, as data. This table is the one in ARCHITECTURE.md; each row says why its border exists. */

export interface ImportRule {
  /** Files the row is about: path prefixes from the root. The longest prefix that fits decides. */
  readonly files: readonly string[]
  /** Workspace packages it may import. */
  readonly workspace: readonly string[]
  /** npm packages it may import; "declared": whatever its package.json declares. */
  readonly npm: readonly string[] | "declared"
  /** Prefixes of its own files it may import; without it, all files of its package. */
  readonly own?: readonly string[]
  /** May it use Node's modules? */
  readonly node: boolean
  /** May it read the environment, the home directory, the arguments, and print? */
  readonly machine: boolean
  /** May it read a clock or a source of chance by itself? */
  readonly clock: boolean
  readonly why: string
}

const core = "@ku0/agent-runtime-core"
const telemetry = "@ku0/agent-runtime-telemetry"
const persistence = "@ku0/agent-runtime-persistence"
const execution = "@ku0/agent-runtime-execution"
const integrations = "@ku0/agent-runtime-integrations"
const runtime = "@ku0/agent-runtime"
const cowork = "@ku0/cowork"

const inPackages = { node: true, machine: false, clock: true } as const
const inApps = { node: true, machine: true, clock: true } as const

export const importTable: readonly ImportRule[] = [
  {
    files: ["packages/agent-runtime-core/"],
    workspace: [],
    npm: ["zod"],
    node: false,
    machine: false,
    clock: false,
    why: "core is the words and the rules: pure, so that the same log folds to the same state in any process and in a browser. Time and chance are handed in.",
  },
  {
    files: ["packages/agent-runtime-telemetry/"],
    workspace: [core],
    npm: ["@opentelemetry/api"],
    ...inPackages,
    why: "telemetry tells about the others and must not pull them in; everything may depend on it, so it depends on core alone.",
  },
  {
    files: ["packages/agent-runtime-persistence/"],
    workspace: [core, telemetry],
    npm: ["@photostructure/sqlite", "pg"],
    ...inPackages,
    why: "persistence keeps what it is handed and knows no agent loop, so that any agent can use it and a crash in the loop can't reach the store.",
  },
  {
    files: ["packages/agent-runtime-execution/"],
    workspace: [core, telemetry],
    npm: "declared",
    ...inPackages,
    why: "the loop emits and does not know who listens; it is handed ports, so it runs and is tested without a store.",
  },
  {
    files: ["packages/agent-runtime-integrations/"],
    workspace: [core],
    npm: "declared",
    ...inPackages,
    why: "an adapter translates between the outside and core's words; one that reached further would bring a foreign agent's shape into the inside.",
  },
  {
    files: ["packages/agent-runtime/"],
    workspace: [core, telemetry, persistence, execution],
    npm: "declared",
    ...inPackages,
    why: "the facade wires the inside together; adapters and apps are chosen by whoever uses it, so it can't know them.",
  },
  {
    files: ["apps/cli/"],
    workspace: [runtime, integrations, cowork],
    npm: "declared",
    ...inApps,
    why: "the command line uses what every user of the library has: what it needs beyond the facade is missing in the facade.",
  },
  {
    files: ["apps/cowork/"],
    workspace: [runtime],
    npm: "declared",
    own: ["apps/cowork/src/server/", "apps/cowork/src/api.ts", "apps/cowork/test/"],
    ...inApps,
    why: "the server uses the facade alone and shares only api.ts with the page, so that neither half can lean on the other's inside.",
  },
  {
    files: ["apps/cowork/src/api.ts"],
    workspace: [core],
    npm: ["zod"],
    own: [],
    node: false,
    machine: false,
    clock: false,
    why: "api.ts is loaded by the server and by the page: whatever it imports, both carry.",
  },
  {
    files: ["apps/cowork/src/web/"],
    workspace: [core],
    npm: "declared",
    own: ["apps/cowork/src/web/", "apps/cowork/src/api.ts"],
    node: false,
    machine: false,
    clock: true,
    why: "the page runs in a browser: no Node module, no server code, no facade may end up in its bundle.",
  },
]

/** The only doors into a package beside its main entry: core's schemas, which cost time to load, and three kinds of others. */
export const openDoors: readonly RegExp[] = [
  /^@ku0\/agent-runtime-core\/schemas$/,
  /^@ku0\/[^/]+\/testing$/,
  /^@ku0\/[^/]+\/(agents|models)(\/[^/]+)?$/,
]

/** The row that decides about a file. */
export function findRule(path: string): ImportRule | undefined {
  let best: { rule: ImportRule; length: number } | undefined
  for (const rule of importTable) {
    for (const prefix of rule.files) {
      if (path.startsWith(prefix) && prefix.length > (best?.length ?? -1)) best = { rule, length: prefix.length }
    }
  }
  return best?.rule
}
