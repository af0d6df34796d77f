/** D1 and D2 of key programs: what fails, what is repeated, and what the log tells of it. */
import { createHmac, generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createKeyProgram, type KeyProgramOptions } from '../../../infra/keys/outside/key-program.ts'
import { OutsideKeysUnavailable, type OutsideKeys } from '../../../infra/keys/outside/outside-keys.ts'
import { outsideWrappingKeys } from '../../../infra/keys/outside/outside-master-key.ts'
import { publicKeyObject, signOutside } from '../../../infra/keys/outside/outside-signatures.ts'
import { jwkOf, publicJwkOf, readPublicKey } from '../../../infra/keys/public-key.ts'
import { WRAPPING_USES, wrappingKey } from '../../../infra/keys/wrapping-keys.ts'
import { SignerUnavailable } from '../../../runtime/ports/signer.ts'

const EXAMPLE = join(import.meta.dirname, '..', '..', '..', 'infra', 'keys', 'examples', 'key-program.mjs')
const SECRET = Buffer.alloc(32, 7)
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })

let directory: string
const opened: OutsideKeys[] = []
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'ledger-key-program-'))
  writeFileSync(join(directory, 'master.mac'), SECRET.toString('base64'))
  writeFileSync(join(directory, 'receipts.pem'), privateKey.export({ format: 'pem', type: 'pkcs8' }))
})
afterEach(async () => {
  await Promise.all(opened.splice(0).map((keys) => keys.close()))
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

function programOf(command: readonly string[], options: Partial<KeyProgramOptions> = {}) {
  const log: [string, unknown][] = []
  const note = (event: string, fields?: object): void => void log.push([event, fields])
  const keys = createKeyProgram({
    command: [process.execPath, ...command],
    log: { info: note, error: note },
    firstPauseMs: 1,
    longestPauseMs: 10,
    ...options,
  })
  opened.push(keys)
  return { keys, log, events: () => log.map(([event]) => event) }
}

const example = (options?: Partial<KeyProgramOptions>) => programOf([EXAMPLE, directory], options)

/** A program that counts its runs in a file and replies to each line with what `reply` makes of it. */
function scripted(reply: string, options?: Partial<KeyProgramOptions>) {
  const runs = join(directory, `runs-${Math.trunc(performance.now() * 1_000)}`)
  const script = `
    const fs = require('node:fs')
    fs.appendFileSync(${JSON.stringify(runs)}, 'x')
    const run = fs.readFileSync(${JSON.stringify(runs)}).length
    const say = (reply) => process.stdout.write(JSON.stringify(reply) + '\\n')
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, key, data } = JSON.parse(line)
      ${reply}
    })`
  return programOf(['-e', script], options)
}

describe('the example of a key program', () => {
  test('derives the same wrapping keys at each start, all different', async () => {
    const [first, second] = [
      await outsideWrappingKeys(example().keys, 'master'),
      await outsideWrappingKeys(example().keys, 'master'),
    ]
    const hex = WRAPPING_USES.map((use) => wrappingKey(first, use).export().toString('hex'))
    expect(new Set(hex).size).toBe(WRAPPING_USES.length)
    expect(hex).toEqual(WRAPPING_USES.map((use) => wrappingKey(second, use).export().toString('hex')))
    expect(first.masterKeyId).toBe(second.masterKeyId)
    expect(hex[0]).toBe(createHmac('sha256', SECRET).update('ledger/data-keys/1').digest('hex'))
  })

  test('signs more payloads than one request takes, in order, under the public key that it names', async () => {
    const { keys, log } = example()
    const named = readPublicKey(await keys.publicKey('receipts'))
    const publicKey = publicKeyObject(jwkOf(named?.publicKey ?? ''))
    expect(publicJwkOf(publicKey)).toEqual(publicJwkOf(privateKey))
    const payloads = Array.from({ length: 300 }, (_, index) => `receipt ${index}`)
    const signatures = await signOutside(keys, { reference: 'receipts', publicKey }, payloads)
    expect(new Set(signatures).size).toBe(300)
    expect(log).toEqual([])
  })

  test('with another key than the published one, signs nothing', async () => {
    const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey
    const signing = signOutside(example().keys, { reference: 'receipts', publicKey: other }, ['receipt'])
    await expect(signing).rejects.toThrow('a signature that is not of this key')
  })
})

describe('a key program', () => {
  test('D1: that ends is started again, and what it did not answer is asked once more', async () => {
    const { keys, log } = scripted(`if (run === 1) process.exit(1); say({ id, results: data })`)
    expect(await keys.sign('k', [Buffer.from('a')])).toEqual([Buffer.from('a')])
    expect(log).toEqual([])
  })

  test.for([
    ['exits each time', 'if (run < 4) process.exit(1)', 'exited'],
    ['replies with an error', `if (run === 1) return say({ id, error: 'ckr_a3' })`, 'ckr_a3'],
    ['replies with no JSON', `if (run === 1) return process.stdout.write('PIN 1234\\n')`, 'malformed_reply'],
    ['replies with too few results', 'if (run === 1) return say({ id, results: [] })', 'malformed_reply'],
    ['replies to another request', 'if (run === 1) return say({ id: 99, results: data })', 'malformed_reply'],
    ['floods', `if (run === 1) return process.stdout.write('x'.repeat(100000))`, 'malformed_reply'],
  ] as const)('D2: that %s is tried again until it works, with two lines in the log', async ([, fault, cause]) => {
    const { keys, log, events } = scripted(`${fault}; say({ id, results: data })`)
    await expect(keys.sign('k', [Buffer.from('a')])).rejects.toThrow(`the key program failed: ${cause}`)
    await expect.poll(events).toEqual(['key_program_failed', 'key_program_recovered'])
    expect(log[0]).toEqual(['key_program_failed', { cause, op: 'sign' }])
    expect(await keys.sign('k', [Buffer.from('b')])).toEqual([Buffer.from('b')])
  })

  test('D2: that hangs is ended, and started again', async () => {
    const hangs = `if (run === 1 && data[0] === 'BBBB') return; say({ id, results: data })`
    const { keys, log, events } = scripted(hangs, { deadlineMs: 2_000 })
    await keys.sign('k', [Buffer.from('AAAA', 'base64')])
    await expect(keys.sign('k', [Buffer.from('BBBB', 'base64')])).rejects.toThrow('the key program failed: timed_out')
    await expect.poll(events).toEqual(['key_program_failed', 'key_program_recovered'])
    expect(log[0]).toEqual(['key_program_failed', { cause: 'timed_out', op: 'sign' }])
  })

  test('D2: that fails with one key goes on with the others', async () => {
    const { keys, events } = scripted(
      `if (key === 'lost') return say({ id, error: 'away' }); say({ id, results: data })`,
    )
    await expect(keys.sign('lost', [Buffer.from('a')])).rejects.toThrow('away')
    expect(await keys.sign('k', [Buffer.from('b')])).toEqual([Buffer.from('b')])
    await expect(keys.sign('lost', [Buffer.from('a')])).rejects.toThrow('away')
    expect(events()).toEqual(['key_program_failed'])
  })

  test('D3: whose device refused a login is never asked again', async () => {
    const { keys, log } = scripted(`
      if (run > 1) return say({ id, results: data })
      say({ id, error: 'login_refused' })
      process.stdin.destroy()`)
    await expect(keys.sign('k', [Buffer.from('a')])).rejects.toThrow('login_refused')
    await expect(keys.sign('other', [Buffer.from('a')])).rejects.toThrow('login_refused')
    expect(log).toEqual([['key_program_failed', { cause: 'login_refused', op: 'sign' }]])
  })

  test('D2: while it fails, requests are refused at once', async () => {
    const { keys, events } = scripted(`if (data.length > 0) say({ id, error: 'away' })`)
    await expect(keys.sign('k', [Buffer.from('a')])).rejects.toThrow(OutsideKeysUnavailable)
    for (let asked = 0; asked < 100; asked += 1) {
      await expect(keys.sign('k', [Buffer.from('a')])).rejects.toThrow('away')
    }
    expect(events()).toEqual(['key_program_failed'])
  })

  test('that does not exist is an error of the signer', async () => {
    const { keys } = programOf([], { command: ['/nowhere/key-program'] })
    const outside = { reference: 'k', publicKey: publicKeyObject(publicJwkOf(privateKey)) }
    await expect(signOutside(keys, outside, ['a'])).rejects.toThrow(SignerUnavailable)
    await expect(signOutside(undefined, outside, ['a'])).rejects.toThrow('LEDGER_KEY_COMMAND is not set')
  })

  test('C2: gets no variable of the ledger', async () => {
    process.env['LEDGER_TEST_SECRET'] = 'secret'
    const { keys } = scripted(`
      const found = Object.keys(process.env).filter((name) => name.startsWith('LEDGER_')).join()
      say({ id, results: data.map(() => Buffer.from('[' + found + ']').toString('base64')) })`)
    const [found] = await keys.sign('k', [Buffer.from('a')])
    delete process.env['LEDGER_TEST_SECRET']
    expect(found?.toString()).toBe('[]')
  })

  test.for([
    ['of another length', `data.map(() => 'AAAA')`],
    ['that are all equal', `data.map(() => Buffer.alloc(32).toString('base64'))`],
  ] as const)('that gives MACs %s gives no master key', async ([, results]) => {
    const { keys } = scripted(`say({ id, results: ${results} })`)
    await expect(outsideWrappingKeys(keys, 'k')).rejects.toThrow('gave no HMAC-SHA-256')
  })

  test('O2: that gives other MACs at the second time gives no master key', async () => {
    const random = `data.map(() => require('node:crypto').randomBytes(32).toString('base64'))`
    const { keys } = scripted(`say({ id, results: ${random} })`)
    await expect(outsideWrappingKeys(keys, 'k')).rejects.toThrow('gave two MACs of one text')
  })
})
