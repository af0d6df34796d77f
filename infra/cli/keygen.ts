import { generateKeyPairSync } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { publicJwkOf } from '../keys/public-key.ts'
import { CommandFailed, type CommandSetup } from './common/command.ts'

export const keygenCommand: CommandSetup = (command, io) => {
  command
    .description(
      `Generates an ECDSA P-256 key pair for an account. Prints the public key as a JWK on one line, ready
for "public_key" of POST /v1/accounts.`,
    )
    .requiredOption('--out <file>', 'new file for the private key (PEM, PKCS #8), readable by you only')
    .action(({ out }: { out: string }) => {
      const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      try {
        const pem = privateKey.export({ format: 'pem', type: 'pkcs8' })
        writeFileSync(resolve(io.cwd, out), pem, { mode: 0o600, flag: 'wx' })
      } catch (cause) {
        throw new CommandFailed(`${out} cannot be written: ${reasonOf(cause)}`, { cause })
      }
      io.out(`${JSON.stringify(publicJwkOf(publicKey))}\n`)
    })
}

function reasonOf(error: unknown): string {
  if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return 'it already exists'
  return error instanceof Error ? error.message : String(error)
}
