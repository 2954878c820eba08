/** How a stale file reaches an event stream: facts for programs, and an error that the run survives. Pure. */
import type { EventData } from "@ku0/agent-runtime-core"

export interface StaleContextNotice {
  readonly metadata: { readonly key: "context:file-stale"; readonly value: EventData<"context:file-stale"> }
  readonly error: { readonly code: "STALE_CONTEXT"; readonly message: string; readonly recoverable: true }
}

/** Turns the event into what an event stream carries. */
export function toStaleContextNotice(data: EventData<"context:file-stale">): StaleContextNotice {
  return {
    metadata: { key: "context:file-stale", value: data },
    error: {
      code: "STALE_CONTEXT",
      message: `Stale file context detected: ${data.path}. Reload before editing.`,
      recoverable: true,
    },
  }
}
