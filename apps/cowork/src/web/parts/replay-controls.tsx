/** Play, step, the slider and the speed. */
import { useId } from "react"
import { dateTime } from "../format.js"
import { type ReplayAction, type ReplayState, speeds } from "../state/replay-state.js"
import { useShortcuts } from "../use-shortcuts.js"
import { Icon } from "./icon.js"

interface ReplayControlsProps {
  readonly state: ReplayState
  readonly dispatch: (action: ReplayAction) => void
  /** When the entry that was shown last was recorded. */
  readonly at: number | null
}

export function ReplayControls({ state, dispatch, at }: ReplayControlsProps) {
  const field = useId()
  const { position, total, isPlaying } = state
  const toggle = () => dispatch({ type: isPlaying ? "paused" : "played" })
  useShortcuts({
    " ": toggle,
    arrowleft: () => dispatch({ type: "stepped", by: -1 }),
    arrowright: () => dispatch({ type: "stepped", by: 1 }),
  })
  const words = `${position.toLocaleString("en")} of ${total.toLocaleString("en")} entries`
  return (
    <section className="player" aria-label="Replay">
      <div className="player-buttons">
        <button
          type="button"
          className="button button-quiet"
          aria-label="One step back"
          disabled={position === 0}
          onClick={() => dispatch({ type: "stepped", by: -1 })}
        >
          <Icon name="stepBack" />
        </button>
        <button
          type="button"
          className="button button-primary"
          aria-label={isPlaying ? "Pause" : "Play"}
          disabled={total === 0}
          onClick={toggle}
        >
          <Icon name={isPlaying ? "pause" : "play"} />
        </button>
        <button
          type="button"
          className="button button-quiet"
          aria-label="One step on"
          disabled={position >= total}
          onClick={() => dispatch({ type: "stepped", by: 1 })}
        >
          <Icon name="stepForward" />
        </button>
      </div>
      <label htmlFor={field} className="hidden">
        Place in the replay
      </label>
      <input
        id={field}
        type="range"
        min={0}
        max={total}
        value={position}
        aria-valuetext={words}
        onChange={(event) => dispatch({ type: "moved", to: Number(event.target.value) })}
      />
      <span className="player-words">
        {words}
        {at === null ? null : <span className="player-when"> · {dateTime(at)}</span>}
      </span>
      <label className="player-speed">
        <span className="hidden">Speed</span>
        <select
          value={state.speed}
          onChange={(event) =>
            dispatch({ type: "speeded", speed: speeds.find((one) => String(one) === event.target.value) ?? 1 })
          }
        >
          {speeds.map((speed) => (
            <option key={speed} value={speed}>
              {speed}×
            </option>
          ))}
        </select>
      </label>
    </section>
  )
}
