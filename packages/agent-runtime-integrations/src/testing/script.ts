/** What a scripted model server is told to answer, one turn for each request. */

export interface ScriptedCall {
  readonly id?: string
  readonly name: string
  readonly arguments?: unknown
  /** Instead of `arguments`: the text as it is, valid or not. */
  readonly argumentText?: string
  /** Into how many deltas the text of the arguments is cut; 1 unless told. */
  readonly pieces?: number
}

export type Fault =
  /** A refusal. Without a body: the service's own way to say the message. */
  | {
      readonly kind: "status"
      readonly status: number
      readonly headers?: Readonly<Record<string, string>>
      readonly message?: string
      readonly body?: string
    }
  /** The connection breaks after so many frames. */
  | { readonly kind: "cut"; readonly after: number }
  /** The stream ends after so many frames, in good order but too early. */
  | { readonly kind: "end"; readonly after: number }
  /** Nothing more comes after so many frames; without a number, not even the head. */
  | { readonly kind: "silence"; readonly after?: number }
  /** 200, but no stream. */
  | { readonly kind: "body"; readonly type: string; readonly text: string }
  /** Text put into the stream after so many frames. */
  | { readonly kind: "insert"; readonly after: number; readonly text: string }
  /** The service reports an error after so many frames, and ends. */
  | { readonly kind: "error"; readonly after: number; readonly type: string; readonly message: string }

export interface ScriptedTurn {
  /** Several texts are several deltas. */
  readonly text?: string | readonly string[]
  readonly calls?: readonly ScriptedCall[]
  readonly usage?: { readonly input: number; readonly output: number; readonly cached?: number }
  readonly stop?: "length" | "filter"
  /** The stream comes in pieces of so many bytes, whatever they cut. */
  readonly drip?: { readonly bytes: number; readonly everyMs: number }
  readonly fault?: Fault
}

/** A turn with nothing left open. */
export interface FullTurn {
  readonly number: number
  readonly texts: readonly string[]
  readonly calls: readonly { readonly id: string; readonly name: string; readonly pieces: readonly string[] }[]
  readonly usage: { readonly input: number; readonly output: number; readonly cached: number }
  readonly stop: "length" | "filter" | undefined
}

export function completeTurn(turn: ScriptedTurn, number: number): FullTurn {
  return {
    number,
    texts: turn.text === undefined ? [] : typeof turn.text === "string" ? [turn.text] : turn.text,
    calls: (turn.calls ?? []).map((call, index) => ({
      id: call.id ?? `call_${number}_${index}`,
      name: call.name,
      pieces: cut(call.argumentText ?? JSON.stringify(call.arguments ?? {}), call.pieces ?? 1),
    })),
    usage: { input: 100, output: 20, cached: 0, ...turn.usage },
    stop: turn.stop,
  }
}

function cut(text: string, count: number): string[] {
  const size = Math.max(1, Math.ceil(text.length / count))
  return Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
    text.slice(index * size, (index + 1) * size),
  )
}

/** How one service talks. */
export interface Dialect {
  readonly name: string
  /** Whether a request to this path is for it. */
  matches(path: string): boolean
  /** The turn as the pieces of an event stream. */
  frames(turn: FullTurn): string[]
  /** An error in the middle of a stream. */
  errorFrame(type: string, message: string): string
  /** The body of a refusal. */
  refusal(status: number, message: string): unknown
  /** What the real service would refuse about the request. */
  findProblems(body: unknown): string[]
}
