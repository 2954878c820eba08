/** Sends fleeting events in order without holding up who makes them; what piles up meanwhile goes out together. */
import type { Emit, EventDraft } from "@ku0/agent-runtime-core"

export interface FleetingEvents {
  /** Does not throw and does not wait. */
  push(event: EventDraft): void
  /** Resolves when everything pushed so far was sent; rejects if sending failed. */
  flush(): Promise<void>
}

export function createFleetingEvents(emit: Emit): FleetingEvents {
  let waiting: EventDraft[] = []
  let sending: Promise<void> | undefined
  let failure: { error: unknown } | undefined

  async function send(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting
      waiting = []
      try {
        await emit(batch)
      } catch (error) {
        failure ??= { error }
      }
    }
    sending = undefined
  }

  return {
    push(event) {
      waiting.push(event)
      sending ??= Promise.resolve().then(send)
    },
    async flush() {
      await sending
      if (failure === undefined) return
      const { error } = failure
      failure = undefined
      throw error
    },
  }
}
