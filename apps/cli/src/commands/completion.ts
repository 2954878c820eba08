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

/**
 * Each hands over the words so far, without their quotes and the last one perhaps empty, and gets a line for each
 * candidate: value, tab, meaning. To bash `=` and `:` end a word: it wants only what comes after the last of them.
 */
const scripts: Readonly<Record<(typeof shells)[number], string>> = {
  bash: `_keepup() {
  local line=$COMP_LINE breaks=\${COMP_WORDBREAKS//[^=:]/} given word value at
  local -a words
  COMPREPLY=()
  for ((at = 0; at <= COMP_CWORD; at++)); do
    word=\${COMP_WORDS[at]}
    if ((at == 0)) || [[ $line == [[:space:]]* || -z $line ]]; then words+=(""); fi
    words[\${#words[@]}-1]+=$word
    line=\${line#*"$word"}
  done
  at=\${#words[@]}-1
  word=\${words[at]}
  words=("\${words[@]//[\\\\\\"\\']/}")
  [[ $word != [\\"\\']* && -n $breaks ]] && given=\${words[at]%"\${words[at]##*[$breaks]}"}
  while IFS= read -r line; do
    value=\${line%%$'\\t'*}
    [[ $value == ":files" ]] && { compopt -o default 2>/dev/null; continue; }
    value=\${value#"$given"}
    [[ $word == [\\"\\']* ]] || value=$(printf '%q' "$value")
    COMPREPLY+=("$value")
  done < <(keepup __complete -- "\${words[@]:1}" 2>/dev/null)
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
  done < <(keepup __complete -- "\${(@)\${(@Q)words[2,CURRENT]}#[\\"\\']}" 2>/dev/null)
  (( \${#found} )) && _describe -V keepup found
  (( files )) && { compset -P '--[a-z-]#='; _files }
}
compdef _keepup keepup
`,
  fish: `function __keepup_complete
  set -l word (commandline -ct)
  set -l plain (string unescape -- $word); or set plain $word
  keepup __complete -- (commandline -opc)[2..-1] $plain 2>/dev/null
end
complete -c keepup -f -a '(__keepup_complete | string match -v ":files")'
complete -c keepup -n '__keepup_complete | string match -q ":files"' -F
`,
}
