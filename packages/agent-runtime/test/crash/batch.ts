/** Programs for the agent: what a scripted model asks for, generated from a seed, and where the process dies. */
import fc from "fast-check"

export interface Call {
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
}

/** One answer of the model: the calls it asks for. */
export type Turn = readonly Call[]

export interface AgentProgram {
  /** Also the prompt, the session's name and the name of its workspace. */
  readonly name: string
  readonly turns: readonly Turn[]
  /** The task of an agent it spawns → that agent's turns. */
  readonly helpers: Readonly<Record<string, readonly Turn[]>>
  readonly policy: "skip" | "retry" | "fail" | "stop"
}

/** How a process ends: at the nth time it comes to a step, or some milliseconds after its first acknowledgement. */
export type Death =
  | { readonly kind: "step"; readonly step: string; readonly count: number }
  | { readonly kind: "instant"; readonly afterMs: number }

export interface Batch {
  readonly programs: readonly AgentProgram[]
  readonly deaths: readonly Death[]
}

/** Steps a process can be told to die at. */
export const steps = [
  "before append",
  "after append",
  "before checkpoint",
  "after checkpoint",
  "model asked",
  "model answered",
  "heard run:started",
  "heard turn:started",
  "heard message:added",
  "heard tool:started",
  "heard tool:ended",
  "heard turn:ended",
  "heard checkpoint:created",
  "heard agent:spawned",
  "heard tool:in-doubt",
] as const

/** A line with the id of the call, in a file that is not in the workspace; some take a while before, some after. */
const effectArbitrary = fc
  .constantFrom("", "", "sleep 0.01; ", "sleep 0.03; ")
  .chain((before) => fc.constantFrom("", "; sleep 0.02").map((after) => [before, after] as const))
  .map(([before, after]): Call => {
    const command = `${before}printf '%s\\n' "$KEEPUP_CALL_ID" >> ../../effects${after}`
    return { name: "run_command", arguments: { command } }
  })

const fileArbitrary = fc.tuple(fc.nat({ max: 2 }), fc.nat({ max: 99 })).map(
  ([file, text]): Call => ({
    name: "write_file",
    arguments: { path: `folder/${file}.txt`, content: `text ${text}\n` },
  }),
)

const harmlessArbitrary = fc.constantFrom<Call>(
  { name: "list_files", arguments: {} },
  { name: "read_file", arguments: { path: "folder/0.txt" } },
  { name: "todo_list", arguments: { items: [{ title: "a step", status: "doing" }] } },
  { name: "no_such_tool", arguments: {} },
)

const callArbitrary = fc.oneof(
  { weight: 5, arbitrary: effectArbitrary },
  { weight: 3, arbitrary: fileArbitrary },
  { weight: 2, arbitrary: harmlessArbitrary },
)

const turnsArbitrary = fc.array(fc.array(callArbitrary, { minLength: 1, maxLength: 3 }), { minLength: 3, maxLength: 6 })

function programArbitrary(name: string): fc.Arbitrary<AgentProgram> {
  const helper = fc.option(fc.array(fc.array(effectArbitrary, { minLength: 1, maxLength: 2 }), { maxLength: 2 }), {
    freq: 2,
  })
  return fc
    .record({ turns: turnsArbitrary, helper, policy: fc.constantFrom("skip", "retry", "fail", "stop") })
    .map(({ turns, helper: helperTurns, policy }) => {
      if (helperTurns === null) return { name, turns, helpers: {}, policy }
      const task = `${name} helper`
      const spawn: Turn = [{ name: "spawn_agent", arguments: { task, agentType: "helper" } }]
      return { name, turns: [turns[0] ?? [], spawn, ...turns.slice(1)], helpers: { [task]: helperTurns }, policy }
    })
}

const deathArbitrary: fc.Arbitrary<Death> = fc.oneof(
  fc.record({
    kind: fc.constant("step" as const),
    step: fc.constantFrom(...steps),
    count: fc.integer({ min: 1, max: 24 }),
  }),
  fc.record({ kind: fc.constant("instant" as const), afterMs: fc.nat({ max: 400 }) }),
)

/** The same batch for the same seed. */
export function generateBatch(seed: number, size: number): Batch {
  const arbitrary = fc.record({
    programs: fc.tuple(...Array.from({ length: size }, (_, index) => programArbitrary(`p${index}`))),
    deaths: fc.array(deathArbitrary, { minLength: 1, maxLength: 2 }),
  })
  const { programs, deaths } = fc.sample(arbitrary, { seed, numRuns: 1 })[0] as Batch
  return { programs: programs.map(tellApart), deaths }
}

/** Call ids are told apart within a session only; here the effects of all sessions are in one file. */
function tellApart(program: AgentProgram): AgentProgram {
  let number = 0
  const mark = (turns: readonly Turn[]): Turn[] =>
    turns.map((turn) =>
      turn.map((call) => {
        const { command } = call.arguments
        return command === undefined
          ? call
          : { ...call, arguments: { command: `${command} # ${program.name} ${++number}` } }
      }),
    )
  const helpers = Object.entries(program.helpers).map(([task, turns]) => [task, mark(turns)])
  return { ...program, turns: mark(program.turns), helpers: Object.fromEntries(helpers) }
}
