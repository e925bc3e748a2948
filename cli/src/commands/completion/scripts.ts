type Shell = "bash" | "zsh" | "fish";

/**
 * Scripts that ask the program itself, so that they never know other commands than it does. Where it has no answer the
 * shell completes names of files.
 */
const SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: String.raw`_berth() {
  local program=${"$"}{COMP_WORDS[0]/#\~/$HOME} word
  COMPREPLY=()
  while IFS=$'\t' read -r word _; do
    COMPREPLY+=("$word")
  done < <("$program" complete -- "${"$"}{COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null)
}
complete -o default -F _berth berth
`,
  zsh: String.raw`#compdef berth
_berth() {
  local program=${"$"}{words[1]/#\~/$HOME} word summary
  local -a found
  while IFS=$'\t' read -r word summary; do
    found+=("$word:$summary")
  done < <("$program" complete -- "${"$"}{(@)words[2,CURRENT]}" 2> /dev/null)
  if (( $#found )); then _describe berth found; else _files; fi
}
compdef _berth berth
if [ "$funcstack[1]" = _berth ]; then _berth; fi
`,
  fish: String.raw`function __berth_complete
  set -l words (commandline -opc)
  set -l program $words[1]
  set -e words[1]
  set -l last (commandline -ct)
  $program complete -- $words "$last" 2> /dev/null
end
complete -c berth -a '(__berth_complete)'
`,
};

export function printCompletion(shell: Shell): void {
  process.stdout.write(SCRIPTS[shell]);
}
