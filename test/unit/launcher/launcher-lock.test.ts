import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { identityOf } from '../../../infra/embedded/process-table.ts'
import { takeLauncherLock } from '../../../infra/launcher/launcher-lock.ts'

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'ledger-lock-'))
})

afterEach(() => rmSync(directory, { recursive: true }))

function lockedBy(holder: unknown): void {
  writeFileSync(join(directory, 'launcher.lock'), typeof holder === 'string' ? holder : JSON.stringify(holder))
}

test('K1: a lock with a living holder is refused until its release, and the refusal names the holder', () => {
  const release = takeLauncherLock(directory)
  expect(() => takeLauncherLock(directory)).toThrow(`a ledger runs on ${directory} already (process ${process.pid})`)
  release()
  expect(readdirSync(directory)).toEqual([])
  takeLauncherLock(directory)()
})

test('K1: a lock of a dead process is taken', async () => {
  const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60000)'])
  const holder = await new Promise((resolve) => {
    child.once('spawn', () => resolve(identityOf(child.pid ?? 0)))
  })
  lockedBy(holder)
  expect(() => takeLauncherLock(directory)).toThrow('already')
  const gone = new Promise((resolve) => {
    child.once('close', resolve)
  })
  child.kill('SIGKILL')
  await gone
  takeLauncherLock(directory)()
  expect(readdirSync(directory)).toEqual([])
})

test('K1: a lock with a reused pid and an unreadable lock are taken', () => {
  lockedBy({ pid: process.pid, startTicks: '1' })
  takeLauncherLock(directory)()
  for (const content of ['{"pid":', '', '\0'.repeat(40)]) {
    lockedBy(content)
    takeLauncherLock(directory)()
  }
  expect(readdirSync(directory)).toEqual([])
})
