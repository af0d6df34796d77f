import { generateKeyPairSync } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { publicJwkOf } from '../keys/public-key.ts'
import { CommandFailed, EXIT_OK, readArgs, required, type Command } from './common/command.ts'

export const keygenCommand: Command = {
  summary: 'make a key pair for an account',
  help: `Usage: ledger keygen --out FILE

Makes an ECDSA P-256 key pair. The private key goes to FILE (PEM, PKCS #8, readable by you only; an existing file is
never replaced), the public key to standard output, as a JWK on one line, ready for "public_key" of POST /v1/accounts.
`,
  run: async (args, io) => {
    const { values } = readArgs(args, { out: { type: 'string' } })
    const path = resolve(io.cwd, required(values.out, 'out'))
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    try {
      writeFileSync(path, privateKey.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600, flag: 'wx' })
    } catch (cause) {
      throw new CommandFailed(`${path} cannot be written: ${reasonOf(cause)}`, { cause })
    }
    io.out(`${JSON.stringify(publicJwkOf(publicKey))}\n`)
    return EXIT_OK
  },
}

function reasonOf(error: unknown): string {
  if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return 'it exists already'
  return error instanceof Error ? error.message : String(error)
}
