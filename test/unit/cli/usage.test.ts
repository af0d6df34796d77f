/** Wrong usage exits with 2 and a message that names the fault; help shows the called command only. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { commandLine } from './cli-fixture.ts'

const { run } = commandLine()

describe('wrong usage', () => {
  test.each([
    [['sign'], "ledger sign: required option '--key <file>' not specified"],
    [['sign', '--key', 'a', '--kye', 'x'], "ledger sign: unknown option '--kye'\n(Did you mean --key?)"],
    [['sign', '--key', 'a', 'b.json'], 'ledger sign: too many arguments'],
    [['up', '--nodes', '0'], 'It must be an integer from 1 to 64.'],
    [['client', 'add', '--id', 'a', '--role', 'king'], 'Allowed choices are viewer, transactor, admin.'],
    [['client', 'add', '--id', 'a b', '--role', 'viewer'], 'It must be 1 to 128 printable ASCII characters'],
    [['client', 'add', '--id', '..', '--role', 'viewer'], 'without spaces, other than "." and ".."'],
    [
      ['client', 'add', '--id', 'a', '--role', 'viewer', '--boundary', 'EUR, USD'],
      'It must be true, false or token IDs separated by commas.',
    ],
    [['keys', 'rotate', '--purpose', 'token', '--check'], "ledger keys rotate: unknown option '--check'"],
    [['keys', 'part-key', '--part', 'owner'], 'Allowed choices are node, edge, auditor.'],
    [['keys', 'rotat', '--kid', 'x'], "ledger keys: unknown command 'rotat'\n(Did you mean rotate?)"],
    [
      ['webhooks', 'replay', 'whk_1', '--since', '2030-01-02'],
      'It must be a time in UTC, such as 2030-01-02T00:00:00Z.',
    ],
    [['events', 'publish', '--subject', 'a..b'], 'It must be letters, digits, _ and -, with dots between them'],
    [['events', 'publish', '--subject', 'ledger'], 'Its subjects must not include those of nodes, ledger.node.'],
    [
      ['events', 'tail', '--url', 'http://127.0.0.1'],
      'ledger events tail: --url, --client-id and --secret-file belong together',
    ],
    [['drain'], "ledger drain: missing required argument 'node'"],
    [['verify', '--offline'], 'ledger verify: --offline needs --checkpoint'],
    [['--', 'migrate'], 'ledger: The first argument must be a command.'],
    [['keygen', '--out', ''], 'ledger keygen: --out must not be empty.'],
    [['refund', '--help'], "ledger: unknown command 'refund'"],
    [['help', 'refund'], "ledger: unknown command 'refund'"],
    [['keys', 'rotat', '--help'], "ledger keys: unknown command 'rotat'\n(Did you mean rotate?)"],
    [['verfy'], "ledger: unknown command 'verfy'\n(Did you mean verify?)"],
  ])('exits with 2 and names the fault of ledger %j', async (args, message) => {
    const { code, out, err } = await run(args)
    expect([code, out, err]).toEqual([2, '', expect.stringContaining(message)])
    expect(err).toMatch(/\nRun ledger[a-z -]* --help for its usage\.\n$/)
  })

  test.each([[[]], [['client']], [['keys']]])('exits with 2 and prints the subcommands of ledger %j', async (args) => {
    const { code, out, err } = await run(args)
    expect([code, out, err]).toEqual([2, '', expect.stringContaining('Commands:')])
  })
})

describe('help', () => {
  test('lists the commands', async () => {
    const { code, out } = await run(['--help'])
    expect(code).toBe(0)
    for (const name of ['up', 'accept-server', 'keys', 'verify'])
      expect(out).toMatch(new RegExp(`^  ${name} .* \\w`, 'm'))
  })

  test('of a subcommand shows that subcommand only', async () => {
    const { code, out } = await run(['keys', 'rotate', '--help'])
    expect([code, out]).toEqual([0, expect.stringContaining('Usage: ledger keys rotate [options]')])
    expect(out).toContain('--after <seconds>')
    expect(out).not.toContain('--kid')
    expect((await run(['keys', 'help', 'rotate'])).out).toBe(out)
  })

  test('is available as ledger help COMMAND', async () => {
    expect((await run(['help', 'keygen'])).out).toBe((await run(['keygen', '--help'])).out)
  })
})

test('--version prints the version of the package', async () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  expect(await run(['--version'])).toEqual({ code: 0, out: `${version}\n`, err: '' })
})
