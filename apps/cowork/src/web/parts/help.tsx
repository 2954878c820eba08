/** The keys, and where else everything is. */
import { Dialog } from "./dialog.js"

const keys: readonly (readonly [keys: readonly string[], does: string])[] = [
  [["?"], "this help"],
  [["/"], "search"],
  [["↑", "↓"], "move in a list; also j and k, Home, End, Page Up, Page Down"],
  [["Enter"], "open what is chosen"],
  [["Esc"], "close, or one level up"],
  [["r"], "restore the checkpoint that is open: shows the plan first"],
  [["b"], "branch from it: a new session, the original stays"],
  [["s"], "differences side by side or in one column"],
  [["Space"], "replay: play or pause"],
  [["←", "→"], "replay: one step; also between tabs"],
  [["t"], "light, dark, or as the system has it"],
]

export function Help({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl className="keys">
        {keys.map(([names, does]) => (
          <div key={does}>
            <dt>
              {names.map((name) => (
                <kbd key={name}>{name}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <p className="muted">
        Everything here is on the command line too: <code>keepup help</code>
      </p>
    </Dialog>
  )
}
