/** Of the processes that claim a file at a time, one has it at most. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import type { ProcessIdentity } from '../../../infra/embedded/process-table.ts'
import { claimFile, FileInUse } from '../../../infra/log/file-claim.ts'

const machine = vi.hoisted(() => ({ pid: 1, dead: [] as number[], onLook: (): void => undefined }))

vi.mock('../../../infra/embedded/process-table.ts', () => ({
  identityOf: (): ProcessIdentity => ({ pid: machine.pid, startTicks: '5' }),
  isAlive: ({ pid }: ProcessIdentity): boolean => {
    machine.onLook()
    return !machine.dead.includes(pid)
  },
}))

function newPath(): string {
  return join(mkdtempSync(join(tmpdir(), 'ledger-claim-')), 'w.json')
}

function claimAs(pid: number, path: string): number[] {
  const before = machine.pid
  machine.pid = pid
  try {
    claimFile(path)
    return [pid]
  } catch (error) {
    if (!(error instanceof FileInUse)) throw error
    return []
  } finally {
    machine.pid = before
  }
}

test('one of two processes takes over a file whose process died', () => {
  const path = newPath()
  machine.dead = []
  expect(claimAs(1, path)).toEqual([1])
  machine.dead = [1]
  const second: number[][] = []
  machine.onLook = () => {
    machine.onLook = () => undefined
    second.push(claimAs(3, path))
  }
  const first = claimAs(2, path)
  expect(second.length).toBe(1)
  expect([...first, ...second.flat()].length).toBe(1)
  expect(claimAs(4, path)).toEqual([])
})
