/** A new file is complete or absent, replaces nothing, and errors name the reason (N1-N3). */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FileUnwritable, type NewFile, withNewFile } from '../../../infra/cli/common/new-file.ts'
import { commandLine } from './cli-fixture.ts'
import { silentIo } from './silent-io.ts'

function writing() {
  const { cwd, write } = commandLine()
  const begin = <T>(name: string, work: (file: NewFile) => Promise<T>): Promise<T> =>
    withNewFile(name, silentIo({ cwd }), work)
  return { cwd, write, begin }
}

test('N1: the file gets its name when it is finished, readable by its owner only', async () => {
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

test('N1: an unfinished file is removed', async () => {
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

test('N2: an existing file stays, even if it was created meanwhile', async () => {
  const { cwd, write, begin } = writing()
  const late = begin('saved', async (file) => {
    write('saved', 'of another program')
    await file.finish()
  })
  await expect(late).rejects.toThrow('saved already exists')
  let begun = false
  const again = begin('saved', async () => void (begun = true))
  await expect(again).rejects.toThrow(FileUnwritable)
  expect([begun, readFileSync(join(cwd, 'saved'), 'utf8'), readdirSync(cwd)]).toEqual([
    false,
    'of another program',
    ['saved'],
  ])
})

test('N3: an unwritable path is reported before the work begins', async () => {
  const { cwd, write, begin } = writing()
  write('file', 'no directory')
  let begun = false
  for (const [name, why] of [
    ['none/saved', `none/saved cannot be written: there is no directory ${join(cwd, 'none')}`],
    ['file/saved', `file/saved cannot be written: ${join(cwd, 'file')} is not a directory`],
  ] as const) {
    await expect(begin(name, async () => void (begun = true))).rejects.toThrow(why)
  }
  expect(begun).toBe(false)
})
