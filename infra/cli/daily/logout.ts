import { join } from 'node:path'
import { CommandFailed, type CommandIo, type CommandSetup } from '../common/command.ts'
import { addExamples } from '../common/examples.ts'
import { createOutput, type OutputOptions } from '../common/output.ts'
import { configDirectory } from '../profile/config-directory.ts'
import { addProfileOption, profileName, type ProfileOptions, removeProfile } from '../profile/profiles.ts'
import { removeSavedToken } from '../profile/saved-token.ts'

interface LogoutOptions extends ProfileOptions, OutputOptions {}

export const logoutCommand: CommandSetup = (command, io) => {
  addProfileOption(
    command.description(
      `Removes a profile from this machine: the address, the client's secret and its access token. Private keys
of accounts stay. The secret stays valid at the ledger: if others had access to it, an operator runs
ledger client revoke.`,
    ),
  )
    .option('--json', 'print the removed profile as JSON')
    .action((options: LogoutOptions) => logout(options, io))
  addExamples(command, ['ledger logout', 'ledger logout --profile admin'])
}

function logout(options: LogoutOptions, io: CommandIo): void {
  const name = profileName(options, io)
  removeSavedToken(name, io)
  const file = removeProfile(name, io)
  if (file === undefined) throw new CommandFailed(`there is no profile ${name}`)
  const output = createOutput(options, io)
  output.record({ profile: name, removed_file: file })
  output.note(`keys of accounts are still in ${join(configDirectory(io), 'keys')}`)
}
