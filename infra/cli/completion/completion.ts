import { Argument } from 'commander'
import type { CommandSetup } from '../common/command.ts'
import { nodesOf } from './command-tree.ts'
import { completionScript, type Shell, SHELLS } from './scripts.ts'

export const completionCommand: CommandSetup = (command, io) => {
  command
    .description(
      `Prints a script that completes commands, options and file names of ledger in a shell.

  bash   eval "$(ledger completion bash)"      in ~/.bashrc
  zsh    eval "$(ledger completion zsh)"       in ~/.zshrc, after compinit
  fish   ledger completion fish | source       in ~/.config/fish/config.fish`,
    )
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .action((shell: Shell) => {
      let program = command
      while (program.parent !== null) program = program.parent
      io.out(completionScript(shell, nodesOf(program)))
    })
}
