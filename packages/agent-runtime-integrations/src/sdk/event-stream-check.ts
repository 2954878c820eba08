/** Is what comes back a stream of events at all? A wrong address often answers 200 with a page. */
import { KeepupError } from "@ku0/agent-runtime-core"

/** Enough to know how a stream begins, and to show what came instead. */
const sampleLength = 160
const startOfField = /^(data|event|id|retry)?:/

export interface EventStreamCheck {
  /** Throws as soon as it is clear that this is no event stream. */
  see(chunk: Uint8Array): void
  end(): void
}

export function createEventStreamCheck(model: string, baseUrl: string, type: string | null): EventStreamCheck {
  const decoder = new TextDecoder()
  let head = ""
  let isKnown = false

  function refuse(): never {
    const sample = head.replace(/\s+/g, " ").trim().slice(0, sampleLength)
    const what = `${type ?? "no content type"}: ${JSON.stringify(sample)}`
    throw new KeepupError("UNAVAILABLE", `The service of ${model} did not answer with a stream (${what}).`, {
      hint: `Is ${baseUrl} the address of a model service?`,
      details: { retryable: false },
    })
  }

  return {
    see(chunk) {
      if (isKnown) return
      head = (head + decoder.decode(chunk, { stream: true })).replace(/^[\s\u{feff}]+/u, "")
      if (startOfField.test(head)) isKnown = true
      else if (head.length >= "event:".length) refuse()
    },
    end() {
      if (!isKnown && head !== "") refuse()
      if (isKnown) return
      throw new KeepupError("UNAVAILABLE", `The service of ${model} answered with nothing.`, {
        hint: "Ask again.",
        details: { retryable: true },
      })
    },
  }
}
