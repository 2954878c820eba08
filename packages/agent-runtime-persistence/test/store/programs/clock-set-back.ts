/** Adds one of everything to a session while its clock is an hour behind. Arguments: address, session. */
import type { SessionId } from "@ku0/agent-runtime-core"
import { openStore } from "../../../src/store/open-store.js"
import { say } from "./said.js"

const [url = "", session = ""] = process.argv.slice(2)
const sessionId = session as SessionId
const now = Date.now
Date.now = () => now() - 3_600_000 // the whole process lives an hour ago
const store = await openStore(url)
await store.sessions.create({ workspacePath: "/w", name: "by another process, an hour ago" })
await store.log.append(sessionId, [{ type: "test:behind", data: {} }])
await store.checkpoints.create({ sessionId, trigger: "manual", name: "behind" })
await store.sessions.addLog(sessionId, "info", "behind")
await store.close()
say({ done: true })
