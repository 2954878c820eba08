/** The agent's own list of what is to be done. It is part of the session's state and survives a restart. */
import { KeepupError, type Tool } from "@ku0/agent-runtime-core"
import type { StatePart } from "../collect-state.js"
import { type ArgumentSchema, parseArguments, toParameters } from "./parse-arguments.js"

export const todoStatuses = ["open", "doing", "done"] as const

export interface TodoItem {
  readonly title: string
  readonly status: (typeof todoStatuses)[number]
}

export interface TodoList extends StatePart {
  readonly items: readonly TodoItem[]
  replace(items: readonly TodoItem[]): void
}

const schema: ArgumentSchema = {
  type: "object",
  properties: {
    items: {
      type: "array",
      description: "The whole list, in order; it replaces the one before",
      items: {
        type: "object",
        properties: { title: { type: "string" }, status: { type: "string", enum: todoStatuses } },
        required: ["title", "status"],
      },
    },
  },
  required: ["items"],
}

/** Makes a list, from what an earlier process kept if given (state key `todo`). */
export function createTodoList(kept: unknown = []): TodoList {
  let items = parseItems(kept)
  let isChanged = false
  return {
    get items() {
      return items
    },
    replace(next) {
      items = next.map(({ title, status }) => ({ title, status }))
      isChanged = true
    },
    takeChange() {
      if (!isChanged) return undefined
      isChanged = false
      return items
    },
  }
}

export function createTodoListTool(list: TodoList): Tool {
  return {
    name: "todo_list",
    description: "Keep a list of the steps of a longer task. Hand over the whole list each time something changes.",
    parameters: toParameters(schema),
    // It changes nothing but the session's own state, which goes with the result: to do it again is the same.
    hasEffects: false,
    async run(args) {
      list.replace(parseArguments<{ items: TodoItem[] }>(schema, args).items)
      const done = list.items.filter(({ status }) => status === "done").length
      return { content: `${done} of ${list.items.length} done.` }
    },
  }
}

function parseItems(value: unknown): readonly TodoItem[] {
  try {
    return parseArguments<{ items: TodoItem[] }>(schema, { items: value }).items
  } catch (cause) {
    throw new KeepupError("INVALID_INPUT", "This is not a kept todo list.", {
      cause,
      hint: "Leave it out to begin anew.",
    })
  }
}
