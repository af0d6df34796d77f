/** Goal: what a command writes is whole or not there, replaces nothing, and what cannot be written is told in a sentence (N1-N3). */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FileUnwritable, type NewFile, withNewFile } from '../../../infra/cli/common/new-file.ts'
import { commandLine } from './cli-fixture.ts'

const SILENT = {
  env: {},
  readInput: () => Promise.reject(new Error('nothing')),
  out: () => undefined,
  err: () => undefined,
}

function writing() {
  const { cwd, write } = commandLine()
  const begin = <T>(name: string, work: (file: NewFile) => Promise<T>): Promise<T> =>
    withNewFile(name, { ...SILENT, cwd }, work)
  return { cwd, write, begin }
}

test('N1: it has its name once it is finished, for its owner alone', async () => {
  const { cwd, begin } = writing()
  const result = await begin('saved', async (file) => {
    await file.write('first ')
    await file.write(Buffer.from('second'))
    expect(readdirSync(cwd)).toEqual([expect.stringMatching(/^saved\.unfinished-/)])
    await file.finish()
    return 'done'
  })
  expect([result, readFileSync(join(cwd, 'saved'), 'utf8')]).toEqual(['done', 'first second'])
  expect([readdirSync(cwd), statSync(join(cwd, 'saved')).mode & 0o777]).toEqual([['saved'], 0o600])
})

test('N1: of what came to no end nothing is left', async () => {
  const { cwd, begin } = writing()
  const broken = new Error('broken')
  await expect(
    begin('saved', async (file) => {
      await file.write('half')
      throw broken
    }),
  ).rejects.toBe(broken)
  expect(readdirSync(cwd)).toEqual([])
})

test('N2: what is there already stays, whenever it came', async () => {
  const { cwd, write, begin } = writing()
  const late = begin('saved', async (file) => {
    write('saved', 'of somebody else')
    await file.finish()
  })
  await expect(late).rejects.toThrow('saved is there already')
  let begun = false
  const again = begin('saved', async () => void (begun = true))
  await expect(again).rejects.toThrow(FileUnwritable)
  expect([begun, readFileSync(join(cwd, 'saved'), 'utf8'), readdirSync(cwd)]).toEqual([
    false,
    'of somebody else',
    ['saved'],
  ])
})

test('N3: what cannot be written is told before the work begins, with the reason', async () => {
  const { cwd, write, begin } = writing()
  write('file', 'no directory')
  let begun = false
  for (const [name, why] of [
    ['none/saved', `none/saved cannot be written: there is no directory ${join(cwd, 'none')}`],
    ['file/saved', `file/saved cannot be written: ${join(cwd, 'file')} is no directory`],
  ] as const) {
    await expect(begin(name, async () => void (begun = true))).rejects.toThrow(why)
  }
  expect(begun).toBe(false)
})
