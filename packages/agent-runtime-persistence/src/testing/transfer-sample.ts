/** A session with everything an export can hold. */
import type { ArtifactId, Checkpoint, Session } from "@ku0/agent-runtime-core"
import { said, user } from "./contract/samples.js"
import type { TimeTravelFixture } from "./time-travel-fixture.js"

const take = async (travel: TimeTravelFixture, session: Session, name?: string) =>
  (await travel.manager.take({ sessionId: session.id, trigger: "manual", ...(name && { name }) })) as Checkpoint

/** A session with two checkpoints, files, state, an artifact and a log line. */
export async function makeSession(
  from: TimeTravelFixture,
): Promise<{ session: Session; one: Checkpoint; two: Checkpoint }> {
  const session = await from.createSession("travels")
  from.write({ "a.txt": "one", "bin.dat": "\0\u00ff", "dir/é.txt": "ü".repeat(200_000), "empty.txt": "" })
  await from.store.log.append(session.id, [user("first"), said({ role: "assistant", content: "done" })])
  await from.store.state.put(session.id, { task: { step: 1 } })
  const one = await take(from, session, "start")
  from.write({ "a.txt": "two", "bin.dat": null, "new.txt": "new" })
  await from.store.log.append(session.id, [user("second")])
  await from.store.artifacts.put(artifact("plan", session), Buffer.from("the plan"))
  await from.store.sessions.addLog(session.id, "warn", "careful")
  const two = await take(from, session)
  await from.store.checkpoints.setPinned(two.id, true)
  return { session: await from.store.sessions.get(session.id), one, two }
}

export function artifact(id: string, session: Session) {
  const facts = { type: "ReportCard", schemaVersion: "1", title: "the plan", taskNodeId: null, mediaType: "text/plain" }
  const rest = { createdAt: 5, quarantine: null, renderHints: null, idempotencyKey: null }
  return { id: id as ArtifactId, sessionId: session.id, ...facts, ...rest }
}
