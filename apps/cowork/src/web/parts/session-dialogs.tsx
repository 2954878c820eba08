/** What is asked before a session or a checkpoint changes: a name, whether to take a checkpoint, whether to delete. */
import { useState } from "react"
import type { CheckpointJson, SessionJson } from "../../api.js"
import { api } from "../client.js"
import { plural } from "../format.js"
import { AskDialog } from "./ask-dialog.js"
import { Name } from "./basics.js"

interface DialogProps {
  readonly onClose: () => void
  /** Must not throw. Closes the window and says what was done. */
  readonly onDone: (words: string) => void
}

export function TakeCheckpoint({ sessionId, onClose, onDone }: DialogProps & { readonly sessionId: string }) {
  const [name, setName] = useState("")
  const take = async () => {
    const { checkpoint } = await api.takeCheckpoint(sessionId, name.trim() === "" ? {} : { name: name.trim() })
    onDone(`Checkpoint #${checkpoint.number} was taken.`)
  }
  return (
    <AskDialog title="Take a checkpoint" verb="Take it" onClose={onClose} onConfirm={take}>
      <p>Keeps the files and the conversation as they are now, so that you can come back to them.</p>
      <label htmlFor="checkpoint-name">Name, if you want one</label>
      <input id="checkpoint-name" value={name} maxLength={200} onChange={(event) => setName(event.target.value)} />
    </AskDialog>
  )
}

export function RenameSession({ session, onClose, onDone }: DialogProps & { readonly session: SessionJson }) {
  const [name, setName] = useState(session.name)
  const rename = async () => {
    await api.rename(session.id, name.trim())
    onDone("The session has its new name.")
  }
  const isOff = name.trim() === "" || name.trim() === session.name
  return (
    <AskDialog title="Rename the session" verb="Rename" isOff={isOff} onClose={onClose} onConfirm={rename}>
      <label htmlFor="session-name">New name</label>
      <input id="session-name" value={name} maxLength={500} onChange={(event) => setName(event.target.value)} />
    </AskDialog>
  )
}

export function DeleteSession({ session, onClose, onDone }: DialogProps & { readonly session: SessionJson }) {
  const remove = async () => {
    await api.deleteSession(session.id)
    onDone("The session was deleted.")
  }
  return (
    <AskDialog title="Delete the session" verb="Delete it" isDangerous onClose={onClose} onConfirm={remove}>
      <p>
        Deletes <Name>{session.name}</Name> with {plural(session.messageCount, "message")} and{" "}
        {plural(session.checkpointCount, "checkpoint")}. <b>This can't be undone.</b>
      </p>
      <p>The files in the workspace stay as they are, and branches keep the history they share with it.</p>
    </AskDialog>
  )
}

export function DeleteCheckpoint({
  checkpoint,
  onClose,
  onDone,
}: DialogProps & { readonly checkpoint: CheckpointJson }) {
  const { sessionId, id, number, pinned } = checkpoint
  const remove = async () => {
    await api.deleteCheckpoint(sessionId, id)
    onDone(`Checkpoint #${number} was deleted.`)
  }
  const title = `Delete checkpoint #${number}`
  return (
    <AskDialog title={title} verb="Delete it" isDangerous isOff={pinned} onClose={onClose} onConfirm={remove}>
      {pinned ? <p>This checkpoint is pinned. Unpin it first.</p> : null}
      <p>
        You can't go back to this place any more. <b>This can't be undone.</b>
      </p>
      <p>The conversation, the other checkpoints and the files in the workspace stay.</p>
    </AskDialog>
  )
}
