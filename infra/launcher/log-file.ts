import { appendFileSync, renameSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { makePrivateDirectory } from '../system/private-file.ts'

/** Each part has at most two files: the current one and the previous one. */
const MAX_FILE_BYTES = 10 * 1024 * 1024

export interface LogFile {
  readonly append: (line: string) => void
}

/** A file of bounded size, readable by its owner only. A failed write drops the line, and never ends the ledger. */
export function openLogFile(path: string): LogFile {
  makePrivateDirectory(dirname(path))
  let sizeBytes = sizeOf(path)
  return {
    append: (line) => {
      const bytes = Buffer.from(`${line}\n`, 'utf8')
      try {
        if (sizeBytes + bytes.length > MAX_FILE_BYTES) {
          renameSync(path, `${path}.1`)
          sizeBytes = 0
        }
        appendFileSync(path, bytes, { mode: 0o600 })
        sizeBytes += bytes.length
      } catch {
        sizeBytes = sizeOf(path)
      }
    },
  }
}

function sizeOf(path: string): number {
  try {
    return statSync(path).size
  } catch {
    return 0
  }
}
