import { type PublicKey, readPublicKey } from '../../keys/public-key.ts'
import { CommandFailed, type CommandIo } from './command.ts'
import { jsonObjectOf, readGivenText } from './given-file.ts'

/** `name`: of a file with a JWK or PEM; `-` is standard input. Throws CommandFailed. */
export async function givenPublicKey(name: string, io: CommandIo): Promise<PublicKey> {
  const text = (await readGivenText(name, io)).trim()
  const key = readPublicKey(text.startsWith('{') ? jsonObjectOf(text) : text)
  if (key !== undefined) return key
  throw new CommandFailed(`${name} must be a public P-256 key as a JWK or PEM, without a private part`)
}
