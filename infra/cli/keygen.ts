import { resolve } from 'node:path'
import { publicJwkOf } from '../keys/public-key.ts'
import type { CommandSetup } from './common/command.ts'
import { writeNewKey } from './profile/key-files.ts'

export const keygenCommand: CommandSetup = (command, io) => {
  command
    .description(
      `Generates an ECDSA P-256 key pair for an account. Prints the public key as a JWK on one line, ready
for "public_key" of POST /v1/accounts.`,
    )
    .requiredOption('--out <file>', 'new file for the private key (PEM, PKCS #8), readable by you only')
    .action(({ out }: { out: string }) => {
      const { key } = writeNewKey(resolve(io.cwd, out), out)
      io.out(`${JSON.stringify(publicJwkOf(key))}\n`)
    })
}
