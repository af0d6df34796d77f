/** Of the processes that claim a file at a time, one has it at most. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { ProcessIdentity } from '../../../infra/embedded/process-table.ts'
import { claimFile, FileInUse } from '../../../infra/log/file-claim.ts'

function newPath(): string {
  return join(mkdtempSync(join(tmpdir(), 'ledger-claim-')), 'w.json')
}

test('one of two processes takes over a file whose process died', () => {
  const path = newPath()
  const dead: number[] = []
  let onLook = (): void => undefined
  const claimAs = (pid: number): readonly number[] => {
    const isAlive = (holder: ProcessIdentity): boolean => {
      onLook()
      return !dead.includes(holder.pid)
    }
    try {
      claimFile(path, { identityOf: () => ({ pid, startTicks: '5' }), isAlive })
      return [pid]
    } catch (error) {
      if (!(error instanceof FileInUse)) throw error
      return []
    }
  }
  expect(claimAs(1)).toEqual([1])
  dead.push(1)
  const second: (readonly number[])[] = []
  onLook = () => {
    onLook = () => undefined
    second.push(claimAs(3))
  }
  const first = claimAs(2)
  expect(second.length).toBe(1)
  expect([...first, ...second.flat()].length).toBe(1)
  expect(claimAs(4)).toEqual([])
})
