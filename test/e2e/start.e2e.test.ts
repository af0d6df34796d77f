/** One command starts, stops and restarts a whole ledger. Real processes, from the build. */
import { readFileSync, writeFileSync } from 'node:fs'
import { readdir, rename, rm, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LedgerClient, send, textOf } from '../support/client/client.ts'
import { accepted, ended, holdingOf, moved } from '../support/client/client-moves.ts'
import { createLedgerDatabase } from '../support/postgres/ledger-database.ts'
import { freePorts } from '../support/processes/free-ports.ts'
import {
  buildOnce,
  freshDirectory,
  isRunning,
  LedgerUp,
  paste,
  PROGRAM,
  runLedger,
  startPart,
  until,
} from './start-harness.ts'

beforeAll(buildOnce)

describe('ledger up', () => {
  let ledger: LedgerUp
  let dataDir: string
  let txnId: string

  beforeAll(async () => {
    dataDir = await freshDirectory()
    ledger = await LedgerUp.start(dataDir)
  })

  afterAll(() => ledger.destroy())

  async function balanceOfAlice(): Promise<string> {
    return (await holdingOf(await ledger.client(), 'alice')).balance
  }

  test('is ready when it prints so, and prints how to use it', async () => {
    const response = await fetch(`${ledger.address}/readyz`)
    expect(response.status).toBe(200)
    expect(ledger.out).toContain(ledger.address)
    expect(ledger.out).toMatch(/transactor \(transactor\): lsk_/)
  })

  test('prints first commands that can be pasted into a shell', async () => {
    const block = /^ACCOUNT=[\s\S]*?(?=\nCtrl-C stops it)/m.exec(ledger.out)?.[0] ?? ''
    const { code, out, err } = await paste(`export XDG_CONFIG_HOME='${dataDir}/config'\n${block}`, dataDir)
    expect({ code, err }).toEqual({ code: 0, err: expect.stringMatching(/^idempotency key \S+\n$/) as string })
    expect(out).toMatch(/^role +transactor$/m)
    expect(out).toMatch(/^balance_after +100$/m)
    expect(out).toMatch(/^BASE +100 +100 +0$/m)
  })

  test('the first transaction of the README can be pasted into a shell', async () => {
    const readme = readFileSync(join(import.meta.dirname, '..', '..', 'README.md'), 'utf8')
    const block = /## A first transaction[\s\S]*?```sh\n([\s\S]*?)```/.exec(readme)?.[1] ?? ''
    expect(block.trim().split('\n')).toHaveLength(5)
    const here = block
      .replaceAll('npx ledger', `'${process.execPath}' '${PROGRAM}'`)
      .replaceAll(/\balice\b/g, 'anna')
      .replaceAll(/\bbob\b/g, 'ben')
    const variables = `export LEDGER_DATA_DIR='${dataDir}' XDG_CONFIG_HOME='${dataDir}/config'\n`
    const { code, out } = await paste(`${variables}${here}`, await freshDirectory())
    expect(code).toBe(0)
    expect(out).toMatch(/^balance_after +75\.5$/m)
    expect(out).toMatch(
      /^ok: chain of ben, 2 entries, ends with sha256:[0-9a-f]{64}\nok: receipt of txn_\w+: completed: credit of 25 BASE from anna to ben$/m,
    )
  })

  test('the examples of the guide for integrators can be pasted into a shell, one after another', async () => {
    const documents = ['README.md', 'api/README.md']
      .map((path) => readFileSync(join(import.meta.dirname, '..', '..', path), 'utf8'))
      .join('\n')
    const blockOf = (title: string): string =>
      new RegExp(`## ${title}[\\s\\S]*?\`\`\`sh\\n([\\s\\S]*?)\`\`\``).exec(documents)?.[1] ?? ''
    const here = [
      'The first transaction with curl',
      'Value between accounts',
      'Reserve, capture, release',
      'All of a list',
    ]
      .map(blockOf)
      .join('')
      .replaceAll('http://127.0.0.1:8080', ledger.address)
      .replaceAll('.ledger/', `${dataDir}/`)
      .replaceAll('npx ledger', `'${process.execPath}' '${PROGRAM}'`)
    expect(here).toContain('sign --key grace.pem')
    const { code, out, err } = await paste(here, await freshDirectory())
    const [account, receipt, balances, chain, proof, ...moves] = out.trim().split('\n')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(JSON.parse(account ?? '')).toMatchObject({ account_id: 'grace', status: 'active' })
    expect(JSON.parse(receipt ?? '')).toMatchObject({ account_id: 'grace', status: 'pending' })
    expect(JSON.parse(balances ?? '')).toMatchObject({ balances: [{ token_id: 'BASE', balance: '100.5' }] })
    expect(chain).toContain('grace')
    expect(proof).toContain('txn_')
    const [henry, token, transfer, debit, credit, group, held, captured, released, end] = moves.map(
      (line) => JSON.parse(line) as object,
    )
    expect(henry).toMatchObject({ account_id: 'henry', status: 'active' })
    expect(token).toMatchObject({ token_id: 'SILVER', issuer: 'grace', total_supply: '1000' })
    expect(transfer).toMatchObject({ type: 'transfer', status: 'completed', to_account_id: 'henry' })
    expect([debit, credit]).toMatchObject([{ account_id: 'grace' }, { account_id: 'henry' }])
    expect(group).toMatchObject({ status: 'settled', legs: [{ leg_status: 'completed' }, { leg_status: 'completed' }] })
    expect(held).toMatchObject({ balances: [{ token_id: 'SILVER', balance: '30', available: '30', incoming: '0' }] })
    expect(captured).toMatchObject({ account_id: 'henry', status: 'completed', amount: '20' })
    expect(released).toMatchObject({ status: 'released', captured: '20', remaining: '0' })
    expect(end).toMatchObject({ end: true })
  })

  test('takes a signed credit and completes it', async () => {
    const client = await ledger.client()
    const receipt = await accepted(client, await client.register('alice'), { type: 'credit', amount: '100.50' })
    expect(receipt['status']).toBe('pending')
    txnId = textOf(receipt, 'txn_id')
    expect(await ended(client, receipt)).toMatchObject({ status: 'completed', amount: '100.50' })
    expect(await balanceOfAlice()).toBe('100.5')
  })

  test('no argument or environment of a process has a secret, and only its user can read secret files', async () => {
    const parts = ['postgres', 'nats-server', 'node-1', 'auditor-1', 'edge-1'] as const
    const secrets = [
      ...readFileSync(join(dataDir, 'clients.json'), 'utf8').matchAll(/lsk_[\w-]+/g),
      ...readFileSync(join(dataDir, 'postgres', 'server.json'), 'utf8').matchAll(/(?<="password":")[^"]+/g),
      ...readFileSync(join(dataDir, 'nats', 'server.json'), 'utf8').matchAll(/(?<="password":")[^"]+/g),
      readFileSync(join(dataDir, 'master.key'), 'utf8').trim(),
    ].map(String)
    expect(secrets).toHaveLength(6)
    for (const part of parts) {
      for (const file of ['environ', 'cmdline']) {
        const shown = readFileSync(`/proc/${ledger.pidOf(part)}/${file}`, 'utf8')
        expect([...secrets, 'lpk1.'].filter((secret) => shown.includes(secret))).toEqual([])
      }
    }
    for (const file of ['clients.json', 'master.key', 'postgres/server.json', 'nats/server.json', 'nats/nats.conf']) {
      expect((await stat(join(dataDir, file))).mode & 0o077).toBe(0)
    }
    const logs = await readdir(join(dataDir, 'logs'))
    expect(logs.sort()).toEqual(['auditor-1.log', 'edge-1.log', 'nats.log', 'node-1.log', 'postgres.log'])
    const written = logs.map((log) => readFileSync(join(dataDir, 'logs', log), 'utf8')).join('')
    expect(secrets.filter((secret) => written.includes(secret))).toEqual([])
  })

  test('ledger verify accepts the export, and names the first entry that was tampered with', async () => {
    const client = await ledger.client()
    const files = {
      chain: join(dataDir, 'chain.json'),
      receipt: join(dataDir, 'receipt.json'),
      jwks: join(dataDir, 'jwks.json'),
    }
    const { body: chain } = await client.get('/v1/accounts/alice/audit-chain')
    writeFileSync(files.chain, chain)
    writeFileSync(files.receipt, (await client.get(`/v1/transactions/${txnId}/receipt`)).body)
    writeFileSync(files.jwks, (await client.get('/.well-known/jwks.json')).body)
    const args = ['verify', '--jwks', files.jwks, files.chain, files.receipt]
    expect(await runLedger(args)).toMatchObject({ code: 0, err: '' })
    writeFileSync(files.chain, chain.replace('100.50', '900.50'))
    const tampered = await runLedger(args)
    expect(tampered.code).toBe(1)
    expect(tampered.out).toContain(`TAMPERED: entry 1 (${txnId})`)
  })

  test('an edge whose clock is two hours behind is not ready, and neither issues nor accepts a token', async () => {
    const client = await ledger.client()
    const [port = 0] = await freePorts(1)
    const edge = startPart('edge', {
      LEDGER_DATA_DIR: dataDir,
      LEDGER_PORT: String(port),
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent('const now=Date.now;Date.now=()=>now()-72e5')}`,
    })
    try {
      const at = `http://127.0.0.1:${port}`
      const readiness = await until('the edge is routed', async () => {
        const reply = await send(at, { method: 'GET', path: '/readyz' }).catch(() => undefined)
        if (reply === undefined) return undefined
        const { checks } = JSON.parse(reply.body) as { readonly checks?: { readonly shards?: boolean } }
        return checks?.shards === true ? { status: reply.status, checks } : undefined
      })
      expect(readiness).toMatchObject({ status: 503, checks: { database: true, nats: true, clock: false } })
      expect((await client.at(at).get('/v1/accounts/alice/balances')).status).toBe(503)
      await expect(LedgerClient.login(at, ledger.credentials('transactor'))).rejects.toThrow(': 503 ')
    } finally {
      await edge.stop()
    }
  })

  test('a second start on the same data is refused, and the first ledger continues', async () => {
    const second = await runLedger(['up'], { LEDGER_DATA_DIR: dataDir })
    expect(second.code).toBe(1)
    expect(second.err).toContain(`a ledger runs on ${dataDir} already (process ${ledger.pid})`)
    expect((await fetch(`${ledger.address}/readyz`)).status).toBe(200)
  })

  test('clients can be added, listed and revoked while it runs', async () => {
    const env = { LEDGER_DATA_DIR: dataDir }
    const added = await runLedger(['client', 'add', '--id', 'desk', '--role', 'viewer'], env)
    expect(added.code).toBe(0)
    const credentials = JSON.parse(added.out) as Record<string, string>
    const login = (): Promise<Response> =>
      fetch(`${ledger.address}/v1/auth/token`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(credentials),
      })
    expect((await login()).status).toBe(200)
    expect((await runLedger(['client', 'add', '--id', 'desk', '--role', 'viewer'], env)).code).toBe(1)
    expect((await runLedger(['client', 'list', '--json'], env)).out).toContain('"client_id":"desk"')
    expect((await runLedger(['client', 'revoke', '--id', 'desk'], env)).code).toBe(0)
    expect((await runLedger(['client', 'revoke', '--id', 'unknown'], env)).code).toBe(1)
    await until(
      'the revoked client is refused',
      async () => ((await login()).status === 401 ? true : undefined),
      10_000,
    )
  })

  test('Ctrl-C ends all processes in order', async () => {
    const pids = (['postgres', 'nats-server', 'node-1', 'auditor-1', 'edge-1'] as const).map((part) =>
      ledger.pidOf(part),
    )
    expect(pids.filter(isRunning)).toHaveLength(5)
    const { code, err } = await ledger.stop('SIGINT')
    expect(code).toBe(0)
    // Each came to its own end, in its time.
    for (const part of ['auditor-1', 'edge-1', 'node-1']) {
      const said = readFileSync(join(dataDir, 'logs', `${part}.log`), 'utf8')
      expect([part, said.includes('"stop_took_too_long"'), said.trimEnd().split('\n').at(-1)]).toEqual([
        part,
        false,
        expect.stringContaining('"stopped"'),
      ])
    }
    expect(readFileSync(join(dataDir, 'logs', 'postgres.log'), 'utf8')).toMatch(/database system is shut down\n*$/)
    expect(readFileSync(join(dataDir, 'logs', 'nats.log'), 'utf8')).toMatch(/Server Exiting\.\.\n*$/)
    expect(pids.filter(isRunning)).toEqual([])
    const order = [...err.matchAll(/^(.+): stopped$/gm)].map((match) => match[1])
    expect(order).toEqual(['auditor-1', 'edge-1', 'node-1', 'nats-server', 'PostgreSQL'])
    expect(err).not.toContain('ended unexpectedly')
  })

  test('a second start finds the data again', async () => {
    ledger = await LedgerUp.start(dataDir)
    const client = await ledger.client('viewer')
    expect(ledger.out).toContain(join(dataDir, 'clients.json'))
    expect(`${ledger.out}${ledger.err}`).not.toMatch(/lsk_/)
    expect(await balanceOfAlice()).toBe('100.5')
    expect(await client.read(`/v1/transactions/${txnId}`)).toMatchObject({ status: 'completed' })
  })

  test('a start with another number of shards is refused with an explanation', async () => {
    await ledger.stop()
    const { code, err } = await runLedger(['up'], { LEDGER_DATA_DIR: dataDir, LEDGER_SHARDS: '17' })
    expect(code).toBe(1)
    expect(err).toContain('the ledger was created with 16 shards, this program is set to 17')
  })

  test('a start never replaces missing data by an empty ledger', async () => {
    const data = join(dataDir, 'postgres', 'data')
    await rename(data, `${data}.elsewhere`)
    const { code, err } = await runLedger(['up'], { LEDGER_DATA_DIR: dataDir })
    expect(code).toBe(1)
    expect(err).toContain(`the data of PostgreSQL is missing from ${data}`)
    await rename(`${data}.elsewhere`, data)
    ledger = await LedgerUp.start(dataDir)
    expect(await balanceOfAlice()).toBe('100.5')
  })

  test('after kill -9 of the launcher its nodes and edges end, and the next start takes over its servers', async () => {
    const children = (['node-1', 'edge-1'] as const).map((part) => ledger.pidOf(part))
    ledger.signal('SIGKILL')
    await ledger.finished
    await until('nodes and edges have ended', () => (children.some(isRunning) ? undefined : true))
    ledger = await LedgerUp.start(dataDir)
    expect(await balanceOfAlice()).toBe('100.5')
  })
})

test('two ledgers, each with several nodes and edges, run side by side without contact', async () => {
  const numbers = { nodes: 2, edges: 2 }
  const ledgers = await Promise.all([1, 2].map(async () => LedgerUp.start(await freshDirectory(), numbers)))
  try {
    for (const [index, ledger] of ledgers.entries()) {
      const client = await ledger.client()
      const amount = `${index + 1}`
      await moved(client, await client.register('alice'), { type: 'credit', amount })
      expect((await holdingOf(client, 'alice')).balance).toBe(amount)
      const second = ledger.out.match(/ready: \S+, (\S+)/)?.[1]
      expect((await fetch(`${second}/readyz`)).status).toBe(200)
    }
    const ids = ledgers.map((ledger) => ledger.out.match(/ledger ([0-9a-f-]{36})/)?.[1])
    expect(new Set(ids).size).toBe(2)
  } finally {
    await Promise.all(ledgers.map((ledger) => ledger.destroy()))
  }
})

test('an external PostgreSQL works with a password from a file, which no environment contains', async () => {
  const database = await createLedgerDatabase({ migrated: false })
  const dataDir = await freshDirectory()
  const url = new URL(database.url)
  const passwordFile = join(dataDir, 'database.password')
  writeFileSync(passwordFile, decodeURIComponent(url.password), { mode: 0o600 })
  const { password } = url
  url.password = ''
  const env = { LEDGER_DATABASE_URL: url.toString(), LEDGER_DATABASE_PASSWORD_FILE: passwordFile }
  const ledger = await LedgerUp.start(dataDir, { env })
  try {
    expect((await fetch(`${ledger.address}/readyz`)).status).toBe(200)
    for (const part of ['node-1', 'edge-1', 'auditor-1'] as const) {
      expect(readFileSync(`/proc/${ledger.pidOf(part)}/environ`, 'utf8')).not.toContain(password)
    }
  } finally {
    await ledger.destroy()
    await database.drop()
  }
})

describe('a start is refused with an explanation and exit code 1 for', () => {
  test('a port that is in use', async () => {
    const server = createServer()
    const port = await new Promise<number>((resolve) => {
      server.listen(0, '127.0.0.1', () => {
        const address = server.address()
        resolve(typeof address === 'object' && address !== null ? address.port : 0)
      })
    })
    const dataDir = await freshDirectory()
    try {
      const { code, err } = await runLedger(['up'], { LEDGER_DATA_DIR: dataDir, LEDGER_PORT: String(port) })
      expect(code).toBe(1)
      expect(err).toContain(`port ${port} on 127.0.0.1 is taken: choose another with LEDGER_PORT`)
      expect(await readdir(dataDir)).toEqual([])
    } finally {
      server.close()
      await rm(dataDir, { recursive: true })
    }
  })

  test('production without its own keys, secrets and servers', async () => {
    const { code, err } = await runLedger(['up'], { LEDGER_ENVIRONMENT: 'production' })
    expect(code).toBe(1)
    for (const name of ['MASTER_KEY', 'BOOTSTRAP_CLIENTS', 'DATABASE_URL', 'NATS_URL'])
      expect(err).toContain(`LEDGER_${name}`)
  })

  test('an invalid configuration, with a list of all errors', async () => {
    const { code, err } = await runLedger(['up'], { LEDGER_PORT: 'x', LEDGER_SHARDS: '-1' })
    expect(code).toBe(1)
    expect(err).toContain('LEDGER_PORT is "x"')
    expect(err).toContain('LEDGER_SHARDS is "-1"')
  })
})
