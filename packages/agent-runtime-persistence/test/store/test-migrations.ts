/** Steps that come after the real ones, for tests of how steps are made. */
import { type Migration, migrations } from "../../src/store/migrations.js"

const after: readonly Migration[] = [
  {
    name: "a table of its own, and a row",
    statements: [
      "CREATE TABLE made (step {integer} NOT NULL)",
      "INSERT INTO made VALUES (1)",
      "CREATE INDEX made_by_step ON made (step)",
    ],
  },
  {
    name: "a column, filled",
    statements: [
      "ALTER TABLE sessions ADD COLUMN made_step {integer}",
      "UPDATE sessions SET made_step = 2",
      "INSERT INTO made VALUES (2)",
    ],
  },
  {
    name: "another name",
    statements: ["ALTER TABLE session_logs RENAME TO told", "INSERT INTO made VALUES (3)"],
  },
]

/** The real steps and so many more. */
export function stepsAfter(count: number): readonly Migration[] {
  return [...migrations, ...after.slice(0, count)]
}

export const realSteps = migrations.length
export const moreSteps = after.length
