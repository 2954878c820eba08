/** `completion`: a script for the shell that asks keepup what could come next. */
import { KeepupError } from "@ku0/agent-runtime"
import type { Command } from "../command.js"

const shells = ["bash", "zsh", "fish"] as const

export const completionCommand: Command = {
  summary: "completion for your shell: commands, options, sessions, checkpoints",
  arguments: [{ name: "SHELL", summary: "bash, zsh or fish", completes: shells }],
  examples: [
    { command: 'eval "$(keepup completion bash)"', does: "In ~/.bashrc" },
    { command: 'eval "$(keepup completion zsh)"', does: "In ~/.zshrc, after compinit" },
    { command: "keepup completion fish > ~/.config/fish/completions/keepup.fish", does: "For fish" },
  ],
  exits: [],
  async run(context, input) {
    const shell = input.argument("SHELL")
    const script = (scripts as Readonly<Record<string, string | undefined>>)[shell]
    if (script === undefined) {
      throw new KeepupError("INVALID_INPUT", `There is no completion for ${JSON.stringify(shell)}.`, {
        hint: `Shells are: ${shells.join(", ")}.`,
      })
    }
    context.answer({ shell, script }, () => script)
  },
}

/** Each hands over the words so far, the last one perhaps empty, and gets a line for each candidate: value, tab, meaning. */
const scripts: Readonly<Record<(typeof shells)[number], string>> = {
  bash: `_keepup() {
  local line value
  COMPREPLY=()
  while IFS= read -r line; do
    value=\${line%%$'\\t'*}
    [[ $value == ":files" ]] && { compopt -o default 2>/dev/null; continue; }
    COMPREPLY+=("$(printf '%q' "$value")")
  done < <(keepup __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _keepup keepup
`,
  zsh: `#compdef keepup
_keepup() {
  local -a found
  local line files=0
  while IFS= read -r line; do
    if [[ $line == ":files" ]]; then files=1; continue; fi
    found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done < <(keepup __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  (( \${#found} )) && _describe -V keepup found
  (( files )) && _files
}
compdef _keepup keepup
`,
  fish: `function __keepup_complete
  set -l words (commandline -opc)[2..-1] (commandline -ct)
  keepup __complete -- $words 2>/dev/null | string match -v ':files'
end
complete -c keepup -f -a '(__keepup_complete)'
complete -c keepup -n 'keepup __complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null | string match -q ":files"' -F
`,
}
