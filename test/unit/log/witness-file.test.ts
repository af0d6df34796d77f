/** The file of a witness: one process at a time, and never a step back. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { noteText } from '../../../api/client/log/signed-note.ts'
import { createNoteSigner, signedHead } from '../../../infra/log/log-signer.ts'
import { openWitnessFile } from '../../../infra/log/witness-file.ts'

const NAME = 'witness.example/w'
const ORIGIN = 'example.com/log'

function newPath(): string {
  return join(mkdtempSync(join(tmpdir(), 'ledger-witness-')), 'w.json')
}

async function headOf(size: number) {
  const head = { size, root: new Uint8Array(32).fill(size) }
  const signer = await createNoteSigner(ORIGIN, 'log', Buffer.alloc(32, 1))
  return { ...head, origin: ORIGIN, note: noteText(signedHead(signer, head)) }
}

test('a witness keeps its key and its heads over a restart', async () => {
  const path = newPath()
  const first = openWitnessFile(path, NAME)
  await first.save(await headOf(7))
  first.close()
  const second = openWitnessFile(path, undefined)
  expect([second.name, second.seed]).toEqual([NAME, first.seed])
  expect(await second.head(ORIGIN)).toEqual(await headOf(7))
  second.close()
  expect(readdirSync(join(path, '..'))).toEqual(['w.json'])
})

test('F2: a missing file needs a name, another name is refused, and a damaged file stays as it is', async () => {
  const path = newPath()
  expect(() => openWitnessFile(path, undefined)).toThrow(`there is no witness in ${path}: --name makes a new one`)
  const apart = join(path, '..', 'absent', 'w.json')
  expect(() => openWitnessFile(apart, NAME)).toThrow(`there is no directory ${dirname(apart)}`)
  openWitnessFile(path, NAME).close()
  expect(() => openWitnessFile(path, 'another')).toThrow(`is ${NAME}`)
  for (const damaged of ['', '{}', readFileSync(path, 'utf8').slice(0, -10)]) {
    writeFileSync(path, damaged)
    expect(() => openWitnessFile(path, NAME)).toThrow('is not the file of a witness, or is damaged')
    expect(readFileSync(path, 'utf8')).toBe(damaged)
  }
})

test('F3: a second process is refused as long as the first one lives', () => {
  const path = newPath()
  const file = openWitnessFile(path, NAME)
  expect(() => openWitnessFile(path, undefined)).toThrow(`is in use by the process ${process.pid}`)
  file.close()
  // A process with this number began at another time: the one that had the file is gone.
  writeFileSync(`${path}.lock.${process.pid}-1`, '')
  openWitnessFile(path, undefined).close()
  expect(readdirSync(join(path, '..'))).toEqual(['w.json'])
})

test('F3: a file that another process changed is not replaced, and nothing is signed', async () => {
  const path = newPath()
  const file = openWitnessFile(path, NAME)
  // Of another container, whose processes are not seen here.
  for (const name of readdirSync(join(path, '..'))) if (name.includes('.lock')) rmSync(join(path, '..', name))
  const other = openWitnessFile(path, undefined)
  await other.save(await headOf(9))
  await expect(file.save(await headOf(8))).rejects.toThrow('was changed by another process')
  expect(await file.head(ORIGIN)).toBeUndefined()
  other.close()
  const next = openWitnessFile(path, undefined)
  expect(await next.head(ORIGIN)).toEqual(await headOf(9))
  next.close()
})

test('forks are kept over a restart, once for each root, and at most eight of a log', async () => {
  const path = newPath()
  const forkOf = (origin: string, byte: number) => {
    return { head: { origin, size: 7, root: new Uint8Array(32).fill(byte) }, notes: ['signed', `shown ${byte}`] }
  }
  const first = openWitnessFile(path, NAME)
  expect([await first.saveFork(forkOf(ORIGIN, 1)), await first.saveFork(forkOf(ORIGIN, 1))]).toEqual([true, false])
  first.close()
  const file = openWitnessFile(path, undefined)
  expect([await file.saveFork(forkOf(ORIGIN, 1)), await file.saveFork(forkOf(ORIGIN, 2))]).toEqual([false, true])
  for (let byte = 3; byte < 9; byte += 1) expect(await file.saveFork(forkOf(ORIGIN, byte))).toBe(true)
  expect([await file.saveFork(forkOf(ORIGIN, 9)), await file.saveFork(forkOf('other', 9))]).toEqual([false, true])
  file.close()
  const lines = readFileSync(`${path}.forks`, 'utf8').split('\n')
  expect(lines.length).toBe(10)
  expect(JSON.parse(lines[1] ?? '')).toEqual({
    log: ORIGIN,
    size: 7,
    root: Buffer.alloc(32, 2).toString('base64'),
    notes: ['signed', 'shown 2'],
  })
})
