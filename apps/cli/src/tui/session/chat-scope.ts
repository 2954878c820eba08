/** What the parts of the running chat share. */
import type { ApprovalMode, Runtime, Session } from "@ku0/agent-runtime"
import type { Context } from "../../context.js"
import type { ModelChoice } from "../../run-agent.js"
import type { ChatStore } from "./chat-store.js"
import type { Questions } from "./questions.js"
import type { ScreenJournal } from "./screen-journal.js"

export interface ChatScope {
  /** For commands: what they print becomes items of the chat. */
  readonly context: Context
  readonly store: ChatStore
  readonly journal: ScreenJournal
  readonly questions: Questions
  readonly now: () => number
  openRuntime(): Promise<Runtime>
  /** The session of the chat; none before the first message. */
  session: Session | undefined
  /** `seq` of the newest entry that was shown. */
  seen: number
  choice: ModelChoice
  approval: ApprovalMode | undefined
  readonly maxSteps: number | undefined
}
