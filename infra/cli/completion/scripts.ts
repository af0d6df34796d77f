/**
 * Completion scripts for bash, zsh and fish. Each has all words of the command tree, so that a shell completes without starting a
 * program. A place without known words completes names of files.
 */
import type { CommandNode, Word } from './command-tree.ts'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

export function completionScript(shell: Shell, nodes: readonly CommandNode[]): string {
  switch (shell) {
    case 'bash':
      return bashScript(nodes)
    case 'zsh':
      return zshScript(nodes)
    case 'fish':
      return fishScript(nodes)
  }
}

/**
 * Shell code that finds the called command: it sets `path` to its names. `words`: an expression of the words between the program
 * and the cursor.
 */
function pathLoop(nodes: readonly CommandNode[], words: string): string {
  const paths = nodes.filter(({ path }) => path !== '').map(({ path }) => quoted(path))
  return `  local path='' word
  for word in ${words}; do
    case "\${path:+$path }$word" in
      ${paths.join('|')}) path="\${path:+$path }$word" ;;
    esac
  done`
}

function bashScript(nodes: readonly CommandNode[]): string {
  const cases = nodes.map((node) => {
    const words = [...node.commands.map(({ text }) => text), ...node.choices].join(' ')
    const options = node.options.map(({ text }) => text).join(' ')
    return `    ${quoted(node.path)}) words=${quoted(words)} options=${quoted(options)} ;;`
  })
  return `# bash completion of ledger: eval "$(ledger completion bash)"
_ledger() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" words='' options='' values=''
${pathLoop(nodes, '"${COMP_WORDS[@]:1:COMP_CWORD-1}"')}
  case "$path" in
${cases.join('\n')}
  esac
  case "$path $previous" in
${valuePatterns(nodes)
  .map(({ pattern, choices }) => `    ${quoted(pattern)}) words=${quoted(choices.join(' '))} options='' ;;`)
  .join('\n')}
  esac
  [[ $current == -* ]] && words="$options"
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [[ -z $words ]] && COMPREPLY=($(compgen -f -- "$current"))
}
complete -o filenames -F _ledger ledger
`
}

function zshScript(nodes: readonly CommandNode[]): string {
  const described = (words: readonly Word[]): string =>
    words.map(({ text, summary }) => quoted(`${text.replaceAll(':', String.raw`\:`)}:${summary}`)).join(' ')
  const cases = nodes.map((node) => {
    const words = [...node.commands, ...node.choices.map((text) => ({ text, summary: '' }))]
    return `    ${quoted(node.path)}) found=(${described(words)}); options=(${described(node.options)}) ;;`
  })
  return `#compdef ledger
# zsh completion of ledger: eval "$(ledger completion zsh)", after compinit
_ledger() {
  local -a found options
${pathLoop(nodes, '"${(@)words[2,CURRENT-1]}"')}
  case "$path" in
${cases.join('\n')}
  esac
  case "$path $words[CURRENT-1]" in
${valuePatterns(nodes)
  .map(({ pattern, choices }) => `    ${quoted(pattern)}) found=(${choices.map(quoted).join(' ')}); options=() ;;`)
  .join('\n')}
  esac
  [[ $words[CURRENT] == -* ]] && found=("\${options[@]}")
  if (( $#found )); then _describe 'ledger' found; else _files; fi
}
compdef _ledger ledger
`.replaceAll(/\bpath\b/g, 'command_path')
}

function fishScript(nodes: readonly CommandNode[]): string {
  const cases = nodes.filter(({ path }) => path !== '').map(({ path }) => quoted(path))
  const lines = nodes.flatMap(({ path, commands, options, choices, valued }) => {
    const condition = `-n ${quoted(`test (__ledger_command) = "${path}"`)}`
    const words = [...commands, ...choices.map((text) => ({ text, summary: '' }))]
    return [
      ...words.map(
        ({ text, summary }) => `complete -c ledger -f ${condition} -a ${quoted(text)} -d ${quoted(summary)}`,
      ),
      ...options.map(({ text, summary }) => {
        const value = valued.find(({ option }) => option === text)
        const values =
          value === undefined ? '' : value.choices.length === 0 ? ' -r -F' : ` -x -a ${quoted(value.choices.join(' '))}`
        return `complete -c ledger ${condition} -l ${text.slice(2)}${values} -d ${quoted(summary)}`
      }),
    ]
  })
  return `# fish completion of ledger: ledger completion fish | source
function __ledger_command
  set -l found
  for word in (commandline -opc)[2..-1]
    switch (string join ' ' -- $found $word)
      case ${cases.join(' ')}
        set -a found $word
    end
  end
  string join ' ' -- $found
  test -n "$found"; or echo
end
${lines.join('\n')}
`
}

function valuePatterns(nodes: readonly CommandNode[]): readonly { pattern: string; choices: readonly string[] }[] {
  return nodes.flatMap(({ path, valued }) =>
    valued.map(({ option, choices }) => ({ pattern: `${path} ${option}`, choices })),
  )
}

/** In single quotes, in each of the three shells; a quote inside becomes a typographic one, which needs no escape. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", '’').replaceAll('\\', '')}'`
}
