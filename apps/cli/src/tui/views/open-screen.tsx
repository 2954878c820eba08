/** Puts the chat on a terminal: raw keys, bracketed paste, a screen that follows the size; and takes it all back. */
import { render } from "ink"
import { type ReactElement, useEffect, useMemo, useState } from "react"
import type { Styles } from "../../output/text.js"
import type { ChatController } from "../chat-controller.js"
import { Chat } from "./chat.js"
import { KeyContext, type KeySource, openKeySource } from "./key-source.js"
import { LookContext } from "./look.js"
import { openScreenOutput } from "./screen-output.js"

export interface OpenScreenOptions {
  readonly controller: ChatController
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
  readonly styles: Styles
  readonly now: () => number
}

export interface Screen {
  /** When the chat has left, and the terminal is as it was. */
  readonly ended: Promise<void>
}

const pasteOn = "\u001b[?2004h"
const pasteOff = "\u001b[?2004l"
/** Ink must not wait before it draws: what streams is slowed down before it gets here, and keys never are. */
const maxFps = 1_000

export function openScreen({ controller, stdin, stdout, styles, now }: OpenScreenOptions): Screen {
  stdin.setEncoding("utf8")
  stdin.setRawMode(true)
  stdin.resume()
  stdout.write(pasteOn)
  const output = openScreenOutput(stdout)
  const keys = openKeySource(stdin)
  const screen = <SizedChat controller={controller} keys={keys} stdout={stdout} styles={styles} now={now} />
  const app = render(screen, { stdout: output.stream, stdin, exitOnCtrlC: false, patchConsole: false, maxFps })
  const restore = () => {
    keys.close()
    output.close()
    stdout.write(pasteOff)
    stdin.setRawMode(false)
    stdin.pause()
  }
  return {
    ended: app
      .waitUntilExit()
      .then(() => undefined)
      .finally(restore),
  }
}

export interface SizedChatProps {
  readonly controller: ChatController
  readonly keys: KeySource
  readonly stdout: Pick<NodeJS.WriteStream, "columns" | "rows" | "on" | "off">
  readonly styles: Styles
  readonly now: () => number
}

/** The chat in the size of the terminal, and in its new one when it changes. */
export function SizedChat({ controller, keys, stdout, styles, now }: SizedChatProps): ReactElement {
  const [size, setSize] = useState({ columns: stdout.columns || 80, rows: stdout.rows || 24 })
  useEffect(() => {
    const onResize = () => setSize({ columns: stdout.columns || 80, rows: stdout.rows || 24 })
    stdout.on("resize", onResize)
    return () => void stdout.off("resize", onResize)
  }, [stdout])
  const look = useMemo(() => ({ ...size, styles, now }), [size, styles, now])
  return (
    <LookContext.Provider value={look}>
      <KeyContext.Provider value={keys}>
        <Chat controller={controller} />
      </KeyContext.Provider>
    </LookContext.Provider>
  )
}
