import postgres from 'postgres'
import { expect, test } from 'vitest'
import { isDangerous, verdictOfError } from '../../../infra/postgres/commit/commit-verdict.ts'
import { durabilityFault } from '../../../infra/postgres/store/durability.ts'
import { createIdentityGuard, type DatabaseIdentity } from '../../../infra/postgres/store/identity.ts'
import { applicationName } from '../../../infra/postgres/connection/connection.ts'

function serverError(severity: string, code: string): Error {
  // The driver constructs it from the message's fields; the declared constructor is that of Error.
  const fields = { severity, code, message: 'Key (account_id)=(alice) already exists', table_name: 'accounts' }
  return Reflect.construct(postgres.PostgresError, [fields]) as Error
}

test.for([
  ['LG001', 'invariant'],
  ['23505', 'invariant'],
  ['23514', 'invariant'],
  ['XX001', 'invariant'],
  ['XX002', 'invariant'],
  ['22P05', 'data'],
  ['22021', 'data'],
  ['22003', 'data'],
  ['54000', 'data'],
  ['40P01', 'transient'],
  ['55P03', 'transient'],
  ['57014', 'transient'],
  ['53100', 'transient'],
  ['25006', 'transient'],
  ['42P01', 'transient'],
] as const)('D3: ERROR %s is a definite failure with the cause %s', ([code, cause]) => {
  expect(verdictOfError(serverError('ERROR', code))).toMatchObject({ kind: 'failed', cause })
})

test.for([
  ['FATAL', '57P01'],
  ['FATAL', '23505'],
  ['PANIC', 'XX000'],
  ['ERROR', '57P01'],
  ['ERROR', '08006'],
  ['ERROR', '40003'],
] as const)('D3: %s %s leaves the outcome unknown', ([severity, code]) => {
  expect(verdictOfError(serverError(severity, code)).kind).toBe('unknown')
})

test.for([
  ['01000', 'syncrep.c', true],
  ['57P01', 'syncrep.c', true],
  ['25P01', 'xact.c', true],
  ['25001', 'xact.c', true],
  ['40001', 'pl_exec.c', true],
  ['XX000', 'elog.c', true],
  ['01000', 'varsup.c', false],
  ['01000', 'pl_exec.c', false],
  ['55000', 'collationcmds.c', false],
  ['', '', false],
] as const)('D3: a warning %s of %s makes a commit unknown: %s', ([code, file, dangerous]) => {
  expect(isDangerous({ code, file })).toBe(dangerous)
})

test('D3: a lost connection and an exception leave the outcome unknown', () => {
  const lost = Object.assign(new Error('write CONNECTION_CLOSED 10.0.0.1:5432'), { code: 'CONNECTION_CLOSED' })
  expect(verdictOfError(lost)).toEqual({ kind: 'unknown', detail: 'no answer: CONNECTION_CLOSED' })
  expect(verdictOfError(new TypeError('x')).kind).toBe('unknown')
  expect(verdictOfError('thrown').kind).toBe('unknown')
})

test('a failure quotes no value of a row', () => {
  for (const code of ['23505', '22003', '40P01']) {
    expect(JSON.stringify(verdictOfError(serverError('ERROR', code)))).not.toContain('alice')
  }
})

const FIRST: DatabaseIdentity = {
  ledgerId: 'l',
  shardCount: 8,
  systemIdentifier: '1',
  timeline: '00000001',
  acceptance: '00000000-0000-4000-8000-000000000000',
  wentBack: false,
  recovering: false,
}

test('N3: a server that was not accepted is refused, also as the first server of a process', () => {
  const guard = createIdentityGuard()
  expect(() => guard.check({ ...FIRST, acceptance: null })).toThrow('not accepted')
  expect(() => guard.check(FIRST)).toThrow('not accepted')
})

test('N3: a server that a node detected as an older copy is refused', () => {
  expect(() => createIdentityGuard().check({ ...FIRST, wentBack: true })).toThrow('older copy')
})

test.for([
  ['ledgerId', 'm'],
  ['shardCount', 16],
  ['systemIdentifier', '2'],
  ['timeline', '00000002'],
] as const)('N1: a changed %s stops the store for good', ([field, value]) => {
  const guard = createIdentityGuard()
  guard.check(FIRST)
  guard.check({ ...FIRST })
  expect(guard.stopped()).toBeUndefined()
  expect(() => guard.check({ ...FIRST, [field]: value })).toThrow(field)
  expect(guard.stopped()).toContain(field)
  expect(() => guard.check(FIRST)).toThrow(field)
})

test('N1: the callback that ends the process is called once', () => {
  const told: string[] = []
  const guard = createIdentityGuard(undefined, (reason) => told.push(reason))
  guard.check(FIRST)
  expect(told).toEqual([])
  const other = { ...FIRST, timeline: '00000002' }
  for (const seen of [other, FIRST, other]) expect(() => guard.check(seen)).toThrow('timeline')
  expect(told).toEqual([guard.stopped()])
})

const SOUND = { fsync: 'on', synchronousCommit: 'on', standbyNames: '', standbys: 0 }

test.for([true, false])('W1: synchronous_commit = off is refused (production: %s)', (production) => {
  const fault = (synchronousCommit: string) => durabilityFault({ ...SOUND, synchronousCommit }, production)
  expect(fault('off')).toMatch(/synchronous_commit = off.*synchronous_commit = on/)
  for (const value of ['local', 'on', 'remote_write', 'remote_apply']) expect(fault(value)).toBeUndefined()
})

test('W1: fsync = off is refused everywhere', () => {
  for (const production of [true, false]) {
    expect(durabilityFault({ ...SOUND, fsync: 'off' }, production)).toMatch(/fsync = off.*fsync = on/)
  }
})

test('W2: in production a commit must wait for existing standbys', () => {
  const replicated = { ...SOUND, standbyNames: 'FIRST 1 (b)', standbys: 1 }
  expect(durabilityFault(replicated, true)).toBeUndefined()
  expect(durabilityFault({ ...replicated, synchronousCommit: 'local' }, true)).toContain('synchronous_commit = local')
  expect(durabilityFault({ ...SOUND, standbys: 1 }, true)).toContain('synchronous_standby_names')
  expect(durabilityFault({ ...SOUND, standbyNames: ' ', standbys: 1 }, true)).toContain('synchronous_standby_names')
  expect(durabilityFault({ ...replicated, synchronousCommit: 'local' }, false)).toBeUndefined()
  expect(durabilityFault({ ...SOUND, standbys: 1 }, false)).toBeUndefined()
})

test('N1: the guard accepts only the expected ledger', () => {
  const guard = createIdentityGuard('l')
  guard.check(FIRST)
  expect(() => createIdentityGuard('other').check(FIRST)).toThrow('expected other')
})

test('an application name ends with the whole session and is short enough for PostgreSQL', () => {
  const session = 'f'.repeat(32)
  const name = applicationName(`ä:${'n'.repeat(100)}`, session)
  expect(Buffer.byteLength(name)).toBeLessThanOrEqual(63)
  expect(name.endsWith(`:${session}`)).toBe(true)
  expect(name.split(':')).toHaveLength(3)
})
