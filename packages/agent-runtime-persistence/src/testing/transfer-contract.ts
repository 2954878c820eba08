/** What an export and an import must keep, as a test suite: the same on every store. */
import fc from "fast-check"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import type { Store } from "../store/open-store.js"
import { exportSession } from "../transfer/export-session.js"
import { importSession } from "../transfer/import-session.js"
import { createTemporaryFolder, type TemporaryFolder } from "./temporary-folder.js"
import { playStory, readComparable, storySteps } from "./transfer-story.js"

export interface TransferFixture {
  /** Opens a store on an empty database of its own; what it needs on disk goes into the folder. */
  open(folder: string): Promise<Store>
  readonly numRuns: number
}

export function describeTransfer(name: string, { open, numRuns }: TransferFixture): void {
  describe(`a session that travels, on ${name}`, () => {
    let folder: TemporaryFolder
    const opened: Store[] = []
    beforeEach(() => {
      folder = createTemporaryFolder()
    })
    afterEach(async () => {
      for (const store of opened.splice(0)) await store.close()
      folder.remove()
    })

    it("can be imported when its secrets were taken out, whatever happened in it", async () => {
      let run = 0
      const source = await open(folder.file("source"))
      opened.push(source)
      await fc.assert(
        fc.asyncProperty(storySteps, async (steps) => {
          const path = folder.file(`${++run}.keepup`)
          const original = await playStory(source, steps, "/from")
          await exportSession({ store: source }, { sessionId: original.id, path, redact: true })
          const options = { path, workspacePath: "/to", workFolder: folder.file("work") }
          const { session, redacted } = await importSession({ store: source }, options)
          expect([redacted, session.messageCount, session.status]).toEqual([
            true,
            original.messageCount,
            original.status,
          ])
        }),
        { numRuns: Math.ceil(numRuns / 3) },
      )
    })

    it("is the same after export, import and export, whatever happened in it", async () => {
      let run = 0
      const source = await open(folder.file("source"))
      const target = await open(folder.file("target"))
      opened.push(source, target)
      await fc.assert(
        fc.asyncProperty(storySteps, fc.boolean(), async (steps, isSameStore) => {
          const [first, second] = [folder.file(`${++run}-a.keepup`), folder.file(`${run}-b.keepup`)]
          const original = await playStory(source, steps, "/from")
          const store = isSameStore ? source : target
          const workspacePath = `/to/${run}`
          await exportSession({ store: source }, { sessionId: original.id, path: first })
          const { session } = await importSession(
            { store },
            { path: first, workspacePath, workFolder: folder.file("work") },
          )
          await exportSession({ store }, { sessionId: session.id, path: second })
          expect(readComparable(second)).toEqual(readComparable(first))
          expect(session).toMatchObject({ status: original.status, messageCount: original.messageCount })
          expect(session).toMatchObject({ createdAt: original.createdAt, workspacePath, name: original.name })
          expect(session.metadata).toEqual({ ...original.metadata, imported: true })
          expect(session.id).not.toBe(original.id)
          const [folded, expected] = [
            await store.log.fold(await store.log.head(session.id)),
            await source.log.fold(await source.log.head(original.id)),
          ]
          expect(folded.phase).toBe(expected.phase)
          expect(folded.stateKeys).toEqual(expected.stateKeys)
          expect(folded.messages.length).toBe(expected.messages.length)
          // those it shares entries with came along, and are not shown
          expect((await store.sessions.list({ workspacePath })).map(({ id }) => id)).toEqual([session.id])
        }),
        { numRuns },
      )
    })
  })
}
