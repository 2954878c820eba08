/** One line that says what is going on, and since when. Only this line is drawn again while it turns. */
import { memo, type ReactElement, useEffect, useState } from "react"
import { cut, oneLine } from "../../output/text.js"
import { length } from "../../output/time.js"
import type { ChatPhase } from "../state/chat-state.js"
import { Lines } from "./lines.js"
import { useLook } from "./look.js"

const turns = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]
const everyMs = 120

const words: Readonly<Partial<Record<ChatPhase, string>>> = {
  opening: "Opening",
  running: "Working",
  stopping: "Stopping",
  busy: "Working",
  leaving: "Keeping a checkpoint",
}

export interface ActivityProps {
  readonly phase: ChatPhase
  readonly activity: string
  readonly since: number
  readonly isLeaveArmed: boolean
}

export const Activity = memo(function Activity(props: ActivityProps): ReactElement | null {
  const { columns, styles, now } = useLook()
  const [turn, setTurn] = useState(0)
  const word = words[props.phase]
  const isTurning = word !== undefined
  useEffect(() => {
    if (!isTurning) return
    const timer = setInterval(() => setTurn((last) => last + 1), everyMs)
    return () => clearInterval(timer)
  }, [isTurning])
  if (props.isLeaveArmed)
    return <Lines lines={["", styles.magenta(cut("  Press Ctrl-C again to leave.", columns - 1))]} />
  if (word === undefined) return null
  const seconds = props.since === 0 ? 0 : Math.floor((now() - props.since) / 1_000)
  const time = seconds < 1 ? "" : ` ${length(seconds * 1_000).replace(/\.0 s$/, " s")}`
  const hint = props.phase === "running" ? "  Ctrl-C stops" : ""
  const text = cut(oneLine(props.activity) || word, Math.max(8, columns - 4 - time.length - hint.length))
  return (
    <Lines
      lines={["", `${styles.cyan(turns[turn % turns.length] as string)} ${text}${styles.dim(`${time}${hint}`)}`]}
    />
  )
})
