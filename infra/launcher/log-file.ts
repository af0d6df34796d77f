import { appendFileSync, renameSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { makePrivateDirectory } from '../system/private-file.ts'

/** Two of these at most for each part: the one that is written and the one before. */
const MAX_FILE_BYTES = 10 * 1024 * 1024

export interface LogFile {
  readonly append: (line: string) => void
}

/** A file of bounded size, readable by its owner only. What cannot be written is dropped: logging ends no ledger. */
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
