/** Server-sent events: frames as text, and a stream that makes the next one only when the asker took the last. */

export const beatMs = 15_000
/** A comment: it keeps the connection known to be alive and is shown to nobody. */
export const beat = ": \n\n"

export function frame(event: string, data: unknown, id?: number): string {
  // JSON has no line ends of its own, so one data line is enough
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}

/** A slow asker holds up its own frames and nobody else's; at most one waits. */
export function answerStream(frames: AsyncGenerator<string>, stop: () => void): Response {
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await frames.next()
        if (next.done) controller.close()
        else controller.enqueue(encoder.encode(next.value))
      },
      async cancel() {
        stop()
        await frames.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(body, {
    headers: {
      "Content-Type": "text/event-stream; charset=utf-8",
      "Cache-Control": "no-store",
      "X-Accel-Buffering": "no",
    },
  })
}
