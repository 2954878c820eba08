/** Subject `agent`: what durability adds to a step of the built-in agent, and what a resume costs. */
import { resume } from "./resume.mjs"
import { steps } from "./steps.mjs"

const parts = { resume, steps }

export async function run(context) {
  for (const [name, part] of Object.entries(parts)) {
    if (context.only && !context.only.includes(name)) continue
    context.keep("agent", name, await part(context))
  }
}
