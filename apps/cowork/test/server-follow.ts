/** A client of a stream, as a page is one: reads frames, remembers the last id, and comes back after every break. */
import { get, type IncomingMessage } from "node:http"

export interface Frame {
  readonly id: number | undefined
  readonly event: string
  // biome-ignore lint/suspicious/noExplicitAny: frames of many shapes
  readonly data: any
}

export interface Follower {
  readonly frames: Frame[]
  /** The `seq` of every entry it was sent, in order. */
  readonly seqs: number[]
  /** Breaks the connection; it comes back by itself. */
  breakOff(): void
  stop(): void
}

export interface FollowOptions {
  readonly port: number
  readonly path: string
  readonly token: string
  readonly after?: number
  readonly onFrame?: (frame: Frame) => void
}

export function follow(options: FollowOptions): Follower {
  const { port, path, token } = options
  const frames: Frame[] = []
  const seqs: number[] = []
  let last = options.after
  let isStopped = false
  let current: { destroy(): void } | undefined

  function open(): void {
    if (isStopped) return
    const headers = {
      authorization: `Bearer ${token}`,
      ...(last !== undefined && { "last-event-id": String(last) }),
    }
    const request = get({ host: "127.0.0.1", port, path, headers, agent: false }, read)
    current = request
    request.on("error", () => undefined)
    request.on("close", () => setTimeout(open, 20))
  }

  function read(response: IncomingMessage): void {
    let rest = ""
    response.setEncoding("utf8")
    response.on("error", () => undefined)
    response.on("data", (text: string) => {
      const parts = (rest + text).split("\n\n")
      rest = parts.pop() ?? ""
      for (const part of parts) hear(part)
    })
  }

  function hear(part: string): void {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(part)?.[1]
    const [id, event, data] = [field("id"), field("event"), field("data")]
    if (event === undefined || data === undefined) return
    const frame = { id: id === undefined ? undefined : Number(id), event, data: JSON.parse(data) }
    if (frame.id !== undefined) {
      last = frame.id
      seqs.push(frame.id)
    }
    frames.push(frame)
    options.onFrame?.(frame)
  }

  open()
  return {
    frames,
    seqs,
    breakOff: () => current?.destroy(),
    stop() {
      isStopped = true
      current?.destroy()
    },
  }
}
