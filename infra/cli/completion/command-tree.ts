/** The commands of `ledger` with their words, as the completion scripts need them. */
import type { Command } from 'commander'

export interface Word {
  readonly text: string
  readonly summary: string
}

export interface CommandNode {
  /** The names from the program on, such as `account keys`; empty for the program. */
  readonly path: string
  readonly commands: readonly Word[]
  readonly options: readonly Word[]
  /** Values of options and of the first argument with a fixed set of them. */
  readonly choices: readonly string[]
  /** Options that are followed by a value. */
  readonly valued: readonly ValuedOption[]
}

export interface ValuedOption {
  readonly option: string
  /** Empty: any value, such as a file. */
  readonly choices: readonly string[]
}

/** The command and all below it, each once. */
export function nodesOf(command: Command, path = ''): readonly CommandNode[] {
  const help = command.createHelp()
  const options = help.visibleOptions(command)
  const children = command.commands
  return [
    {
      path,
      commands: children.map((child) => ({ text: child.name(), summary: child.summary() })),
      options: options.flatMap(({ long, description }) =>
        typeof long === 'string' ? [{ text: long, summary: description }] : [],
      ),
      choices: command.registeredArguments[0]?.argChoices ?? [],
      valued: options.flatMap(({ long, required, optional, argChoices }) =>
        typeof long === 'string' && (required || optional) ? [{ option: long, choices: argChoices ?? [] }] : [],
      ),
    },
    ...children.flatMap((child) => nodesOf(child, path === '' ? child.name() : `${path} ${child.name()}`)),
  ]
}
