import { mkdtempSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makePrivateDirectory } from '../../../infra/system/private-file.ts'

function newDirectory(): string {
  return mkdtempSync(join(tmpdir(), 'ledger-private-'))
}

const modeOf = (path: string): number => statSync(path).mode & 0o777

test('a directory is private, its new parents are not, and an existing one stays as it is', () => {
  const path = join(newDirectory(), 'a', 'b', 'c')
  makePrivateDirectory(path)
  expect([modeOf(path), modeOf(join(path, '..')) & 0o700]).toEqual([0o700, 0o700])
  makePrivateDirectory(path)
  makePrivateDirectory(join(path, '..'))
  expect(modeOf(join(path, '..'))).not.toBe(0o700)
  symlinkSync(path, join(path, 'link'))
  makePrivateDirectory(join(path, 'link'))
})

test('a directory that cannot be created is named, with the reason', () => {
  const file = join(newDirectory(), 'file')
  writeFileSync(file, '')
  const make = (path: string) => () => makePrivateDirectory(path)
  expect(make(file)).toThrow(`the directory ${file} cannot be created: there is a file of this name`)
  expect(make(join(file, 'b'))).toThrow(`the directory ${file} cannot be created: there is a file of this name`)
})

test('a file system that has the parent and refuses the name ends the attempt', () => {
  const make = () => makePrivateDirectory('/proc/ledger-backups')
  expect(make).toThrow('the directory /proc/ledger-backups cannot be created: the file system refuses new names there')
})
