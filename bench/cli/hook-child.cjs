/** As a hook of another agent will do it: reads what happened, keeps it in the newest session of its workspace, answers. */
const { readFileSync, writeSync } = require("node:fs")
const { findStateDirectory, openLog, placesIn } = require("../../apps/cli/dist/quick.cjs")

async function hook() {
  const { cwd, ...data } = JSON.parse(readFileSync(0, "utf8"))
  const stateDirectory = findStateDirectory({ environment: process.env, homeDirectory: process.env.HOME })
  const store = await openLog(placesIn(stateDirectory, { storage: "user", workspacePath: cwd }).db)
  const [session] = await store.sessions.list({ workspacePath: cwd, limit: 1 })
  const [entry] = await store.log.append(session.id, [{ type: "agent:spawned", data: { agentType: "bench", ...data } }])
  writeSync(1, `${JSON.stringify({ seq: entry.seq })}\n`)
  process.exit()
}

hook()
