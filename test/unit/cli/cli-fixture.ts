import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CommandIo } from '../../../infra/cli/common/command.ts'
import { main } from '../../../infra/main/ledger.ts'

export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** A directory, and the command line run in it. */
export function commandLine() {
  const cwd = mkdtempSync(join(tmpdir(), 'ledger-cli-'))
  return {
    cwd,
    write: (name: string, value: unknown): string => {
      writeFileSync(join(cwd, name), typeof value === 'string' ? value : JSON.stringify(value))
      return name
    },
    run: async (args: readonly string[], input = '', env: CommandIo['env'] = {}): Promise<Ran> => {
      let out = ''
      let err = ''
      const io: CommandIo = {
        env,
        cwd,
        readInput: () => Promise.resolve(Buffer.from(input)),
        out: (text) => void (out += text),
        err: (text) => void (err += text),
      }
      return { code: await main(args, io), out, err }
    },
  }
}
