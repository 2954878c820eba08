/** Names of sessions are bounded: they are shown in lists, on screens and in handoffs, and come from anywhere. */
import { KeepupError, longestSessionName } from "@ku0/agent-runtime-core"
import { plainText } from "../store/rows.js"

/** A name for a session that is made or comes from elsewhere: what is too long is cut, and `behind` stays whole. */
export function cutSessionName(name: string, behind = ""): string {
  const near = name.slice(0, longestSessionName - behind.length)
  return plainText(near.length === name.length ? near : near.replace(/[\ud800-\udbff]$/, "")) + behind
}

/** Another name for a session that is there: what is too long is refused. */
export function parseSessionName(name: string): string {
  if (name.length <= longestSessionName) return plainText(name)
  throw new KeepupError("INVALID_INPUT", `A name of ${name.length} characters is too long for a session.`, {
    hint: `Use ${longestSessionName} characters at most.`,
  })
}
