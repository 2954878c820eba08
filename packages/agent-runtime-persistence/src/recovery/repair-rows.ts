/** Makes the short forms in the database again from what they are short forms of: the log. */
import type { SessionId } from "@ku0/agent-runtime-core"
import type { TimeTravelContext } from "../time-travel/time-travel-context.js"
import { repairRestores } from "./check-restores.js"
import { repairSizes } from "./check-values.js"
import { deriveSession } from "./derive-session.js"
import type { Finding, FindingCode } from "./finding.js"

const rowCodes: readonly FindingCode[] = ["row-changed", "head-wrong", "phase-wrong", "counter-wrong"]

export async function repairRows(context: TimeTravelContext, found: readonly Finding[]): Promise<string[]> {
  const { driver } = context.store.context
  const done: string[] = []
  const wrong = new Set(found.filter(({ code, canRepair }) => canRepair && rowCodes.includes(code)).map(idOf))
  // The head first, for those whose log can only then be read to its end.
  for (const { id } of await driver.all("SELECT id FROM sessions")) {
    if (wrong.has(id as string)) done.push(...(await repairSession(context, id as SessionId)))
  }
  const misplaced = found.flatMap(({ code, canRepair, where }) =>
    code === "counter-wrong" && canRepair ? (/^checkpoint #\S+ \(([^)]+)\)/.exec(where)?.[1] ?? []) : [],
  )
  if (misplaced.length > 0) done.push(...(await repairMessageIndexes(context, misplaced)))
  if (found.some(({ code, canRepair, where }) => code === "row-changed" && canRepair && where.startsWith("restore "))) {
    done.push(...(await repairRestores(context)))
  }
  done.push(...(await repairSizes(context, found)))
  return done
}

async function repairSession({ store }: TimeTravelContext, id: SessionId): Promise<string[]> {
  const { driver } = store.context
  const right = await deriveSession(store, id)
  const changed = await driver.transaction("repair-session", async (tx) => {
    // only if the log still ends where we read it to
    const head = await tx.get("SELECT MAX(seq) AS seq FROM entries WHERE session_id = ?", [id])
    if (Number(head?.["seq"]) !== right.headSeq) return 0
    let rows = await tx.run(
      `UPDATE sessions SET head_seq = ?, message_count = ?, phase = ?, status = ?,
         last_checkpoint_number =
           CASE WHEN last_checkpoint_number BETWEEN ? AND ${Number.MAX_SAFE_INTEGER} THEN last_checkpoint_number ELSE ? END
       WHERE id = ?`,
      [right.headSeq, right.messageCount, right.phase, right.status, right.lastNumber, right.lastNumber, id],
    )
    for (const [column, value] of Object.entries(right.fixed)) {
      rows += await tx.run(`UPDATE sessions SET ${column} = ? WHERE id = ?`, [value, id])
    }
    if (right.checkpoints !== "lost") {
      rows += await tx.run("UPDATE sessions SET checkpoint_count = ? WHERE id = ?", [right.checkpoints, id])
    }
    return rows
  })
  return changed === 0
    ? [`Session ${id} changed meanwhile; it was left alone.`]
    : [`The row of session ${id} was made again from its log.`]
}

/** Only where the entry was found to be as it was written. */
async function repairMessageIndexes({ store }: TimeTravelContext, ids: readonly string[]): Promise<string[]> {
  let changed = 0
  for (const id of ids) {
    changed += await store.context.driver.run(
      `UPDATE session_checkpoints SET message_index =
         (SELECT message_index FROM entries WHERE entries.session_id = session_checkpoints.session_id AND seq = entry_seq)
       WHERE id = ?`,
      [id],
    )
  }
  return changed === 0 ? [] : [`The place in the history of ${changed} checkpoint(s) was taken from their entries.`]
}

function idOf({ where }: Finding): string | undefined {
  return /^session ([^,]+)/.exec(where)?.[1]
}
