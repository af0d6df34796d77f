/** All problems of an environment are reported together, with the remedy and without secrets. */
import { describe, expect, test } from 'vitest'
import { missingInProduction, readConfiguration, type Configuration } from '../../../infra/config/configuration.ts'
import { readMasterKey } from '../../../infra/keys/master-key.ts'
import { partKeyText } from '../../../infra/keys/part-key.ts'
import { redactUrl } from '../../../infra/config/redact-url.ts'

type Env = Record<string, string>

function read(env: Env): Configuration {
  const result = readConfiguration(env, '/somewhere')
  if (!result.ok) throw new Error(result.error.join('\n'))
  return result.value.configuration
}

function problems(env: Env): readonly string[] {
  const result = readConfiguration(env, '/somewhere')
  return result.ok ? [] : result.error
}

function warnings(env: Env): readonly string[] {
  const result = readConfiguration(env, '/somewhere')
  return result.ok ? result.value.warnings : ['refused']
}

const KEY = Buffer.alloc(32, 7).toString('base64url')

describe('defaults', () => {
  test('an empty environment is a sandbox on the loopback address', () => {
    expect(read({})).toMatchObject({
      host: '127.0.0.1',
      environment: 'sandbox',
      masterKey: undefined,
      bootstrapClients: undefined,
      trustedProxies: [],
      webhookAllow: [],
    })
  })

  test('the error base follows the base URL, and that follows host and port', () => {
    expect(read({ LEDGER_HOST: '::1', LEDGER_PORT: '9000' }).errorBase).toBe('http://[::1]:9000/errors')
    expect(read({ LEDGER_HOST: '0.0.0.0' }).errorBase).toBe('http://localhost:8080/errors')
    expect(read({ LEDGER_BASE_URL: 'https://ledger.example' }).errorBase).toBe('https://ledger.example/errors')
  })

  test('an empty value is no value', () => {
    expect(read({ LEDGER_PORT: '', LEDGER_DATABASE_URL: '' })).toMatchObject({ port: 8080, databaseUrl: undefined })
  })
})

test('a key program has words, and a master key may be the reference of a key outside', () => {
  const given = { LEDGER_KEY_COMMAND: ' key-program  --here ', LEDGER_MASTER_KEY: 'outside:k-1' }
  expect(read(given)).toMatchObject({ keyCommand: ['key-program', '--here'], masterKey: { outside: 'k-1' } })
  for (const text of [' ', `sh -c "kms"`, 'kms $KEY']) {
    expect(problems({ LEDGER_KEY_COMMAND: text })).toEqual([expect.stringMatching(/^LEDGER_KEY_COMMAND is .*quotes/)])
  }
})

test('addresses of webhooks are ranges, and anything else is refused', () => {
  expect(read({ LEDGER_WEBHOOK_ALLOW: '10.1.0.0/16' }).webhookAllow).toEqual([
    { address: '10.1.0.0', prefixLength: 16, family: 'ipv4' },
  ])
  expect(problems({ LEDGER_WEBHOOK_ALLOW: 'receiver.internal' })).toEqual([
    expect.stringMatching(/^LEDGER_WEBHOOK_ALLOW is .*CIDR ranges/),
  ])
})

test('the log has a name and a file of witnesses', () => {
  expect(read({})).toMatchObject({ logOrigin: undefined, witnesses: undefined })
  expect(read({ LEDGER_LOG_ORIGIN: 'ledger.example/log', LEDGER_WITNESSES: 'policy' })).toMatchObject({
    logOrigin: 'ledger.example/log',
    witnesses: '/somewhere/policy',
  })
  for (const name of ['a b', 'a+b', 'a'.repeat(256)]) {
    expect(problems({ LEDGER_LOG_ORIGIN: name })).toEqual([
      expect.stringMatching(/^LEDGER_LOG_ORIGIN is .*without spaces/),
    ])
  }
})

test('pages with scripts are a list, and all of them by default', () => {
  expect(read({}).pages).toEqual(['console', 'docs'])
  expect(read({ LEDGER_PAGES: 'docs, console' }).pages).toEqual(['console', 'docs'])
  expect(read({ LEDGER_PAGES: 'console' }).pages).toEqual(['console'])
  expect(read({ LEDGER_PAGES: 'none' }).pages).toEqual([])
  for (const text of ['docs,none', 'swagger', 'console,console', ',']) {
    expect(problems({ LEDGER_PAGES: text })).toEqual([
      `LEDGER_PAGES is "${text}": it must be none, or some of console, docs with commas between them.`,
    ])
  }
})

test('metrics need a port, and use the loopback address by default', () => {
  expect(read({ LEDGER_METRICS_HOST: '10.0.0.1' }).metrics).toBeUndefined()
  expect(read({ LEDGER_METRICS_PORT: '9464' }).metrics).toEqual({ host: '127.0.0.1', port: 9464 })
  expect(read({ LEDGER_METRICS_PORT: '9464', LEDGER_METRICS_HOST: '::' }).metrics).toEqual({ host: '::', port: 9464 })
  expect(problems({ LEDGER_METRICS_PORT: '0' })).toHaveLength(1)
})

test('a NATS cluster is a list of addresses, and production is warned of one without TLS', () => {
  const env = { LEDGER_NATS_URL: 'tls://one:4222, nats://two:4222' }
  expect(read(env).nats.urls).toEqual(['tls://one:4222', 'nats://two:4222'])
  expect(warnings(env)).toEqual([])
  expect(warnings({ ...env, LEDGER_ENVIRONMENT: 'production' })).toHaveLength(1)
  expect(warnings({ LEDGER_NATS_URL: 'tls://one', LEDGER_ENVIRONMENT: 'production' })).toEqual([])
  expect(problems({ LEDGER_NATS_URL: 'nats://one,two' })).toHaveLength(1)
})

describe('production is warned of a PostgreSQL without a verified identity', () => {
  const of = (url: string, environment = 'production') =>
    warnings({ LEDGER_DATABASE_URL: url, LEDGER_ENVIRONMENT: environment })
  const USER = 'postgres://owner:a-secret@'

  test.for([
    'db.example.com:5432/ledger',
    'db.example.com/ledger?sslmode=require',
    'db.example.com/ledger?sslmode=verify-full&sslmode=disable',
    '[fd00::1]/ledger',
    'localhost.example.com/ledger',
  ])('%s', (rest) => {
    const [warning = '', ...others] = of(`${USER}${rest}`)
    expect(others).toEqual([])
    expect(warning).toContain('LEDGER_DATABASE_URL is without sslmode=verify-full')
    expect(warning).not.toMatch(/secret|owner|example|10\.0|fd00/)
    expect(of(`${USER}${rest}`, 'sandbox')).toEqual([])
  })

  test.for([
    'db.example.com/ledger?sslmode=verify-full',
    '10.0.0.1/ledger?application_name=x&sslmode=verify-full',
    '127.0.0.1/ledger',
    '[::1]:5432/ledger',
  ])('not of %s', (rest) => {
    expect(of(`${USER}${rest}`)).toEqual([])
  })
})

describe('wrong values', () => {
  test('all are reported together, each with its name and the allowed values', () => {
    const found = problems({
      LEDGER_PORT: '70000',
      LEDGER_SHARDS: '0',
      LEDGER_AMOUNT_INDEX: 'none',
      LEDGER_ENVIRONMENT: 'live',
      LEDGER_LOG_LEVEL: 'loud',
      LEDGER_BASE_URL: 'https://ledger.example/',
      LEDGER_NODE_ID: 'a b',
      LEDGER_ACCESS_TOKEN_TTL_SECONDS: '1.5',
    })
    expect(found).toEqual([
      'LEDGER_PORT is "70000": it must be a whole number from 1 to 65535.',
      'LEDGER_SHARDS is "0": it must be a whole number from 1 to 65536.',
      'LEDGER_AMOUNT_INDEX is "none": it must be one of account, ledger, off.',
      'LEDGER_ACCESS_TOKEN_TTL_SECONDS is "1.5": it must be a whole number from 1 to 86400.',
      'LEDGER_BASE_URL is "https://ledger.example/": it must be a URL such as https://ledger.example.com, without a slash at the end.',
      'LEDGER_ENVIRONMENT is "live": it must be one of sandbox, production.',
      'LEDGER_NODE_ID is "a b": it must be 1 to 64 of A-Z, a-z, 0-9, _ and -.',
      'LEDGER_LOG_LEVEL is "loud": it must be one of debug, info, warn, error.',
    ])
  })

  test('no message shows a secret', () => {
    const text = problems({
      LEDGER_DATABASE_URL: 'mysql://root:hunter2@db/x',
      LEDGER_NATS_URL: 'hunter2',
      LEDGER_MASTER_KEY: 'hunter2',
      LEDGER_PREVIOUS_MASTER_KEY: `${KEY},hunter2`,
      LEDGER_BOOTSTRAP_CLIENTS: '[{"client_id":"a","client_secret":"hunter2","role":"king"}]',
    }).join('\n')
    expect(text).not.toContain('hunter2')
    expect(text).not.toContain(KEY)
    for (const name of ['DATABASE_URL', 'NATS_URL', 'MASTER_KEY', 'PREVIOUS_MASTER_KEY', 'BOOTSTRAP_CLIENTS']) {
      expect(text).toContain(`LEDGER_${name} is not valid: it must be`)
    }
  })

  test('a master key and a file of one together are refused', () => {
    expect(problems({ LEDGER_MASTER_KEY: KEY, LEDGER_MASTER_KEY_FILE: 'key' })).toEqual([
      'LEDGER_MASTER_KEY and LEDGER_MASTER_KEY_FILE are both set: set one of them.',
    ])
    expect(problems({ LEDGER_PREVIOUS_MASTER_KEY: KEY, LEDGER_PREVIOUS_MASTER_KEY_FILE: 'key' })).toEqual([
      'LEDGER_PREVIOUS_MASTER_KEY and LEDGER_PREVIOUS_MASTER_KEY_FILE are both set: set one of them.',
    ])
  })

  test('an unknown variable is a warning that names the nearest known one', () => {
    expect(warnings({ LEDGER_DATABSE_URL: 'x' })).toEqual([
      'LEDGER_DATABSE_URL is unknown and has no effect: did you mean LEDGER_DATABASE_URL?',
    ])
  })
})

test('earlier master keys are one, or several with commas between them, or a file', () => {
  const other = Buffer.alloc(32, 8).toString('base64url')
  const { previousMasterKeys } = read({ LEDGER_PREVIOUS_MASTER_KEY: `${KEY}, ${other}` })
  expect(previousMasterKeys.map((key) => ('masterKeyId' in key ? key.masterKeyId : null))).toEqual(
    [KEY, other].map((text) => readMasterKey(text).masterKeyId),
  )
  expect(read({ LEDGER_PREVIOUS_MASTER_KEY_FILE: 'earlier' }).previousMasterKeyFile).toBe('/somewhere/earlier')
  expect(problems({ LEDGER_PREVIOUS_MASTER_KEY: Array(9).fill(KEY).join(',') })).toHaveLength(1)
})

test('a part key replaces master keys, and a malformed one is not printed', () => {
  const text = partKeyText({ current: readMasterKey(KEY), previous: [] }, 'edge')
  expect(read({ LEDGER_PART_KEY: text }).partKey?.part).toBe('edge')
  expect(read({ LEDGER_PART_KEY_FILE: 'part.key' }).partKeyFile).toBe('/somewhere/part.key')
  expect(problems({ LEDGER_PART_KEY: text, LEDGER_PART_KEY_FILE: 'part.key' })).toEqual([
    'LEDGER_PART_KEY and LEDGER_PART_KEY_FILE are both set: set one of them.',
  ])
  const masterKeys = [{ LEDGER_MASTER_KEY: KEY }, { LEDGER_MASTER_KEY_FILE: 'f' }, { LEDGER_PREVIOUS_MASTER_KEY: KEY }]
  for (const masterKey of masterKeys) {
    expect(problems({ LEDGER_PART_KEY: text, ...masterKey })).toEqual([
      'A part key and a master key are both set: a part with a part key needs no master key, unset it.',
    ])
  }
  expect(problems({ LEDGER_PART_KEY: KEY })).toEqual([
    'LEDGER_PART_KEY is not valid: it must be a part key as ledger keys part-key prints it.',
  ])
})

test('production requires a part key or a master key, and generates none', () => {
  const keysMissing = (env: Env) =>
    missingInProduction(read({ ...env, LEDGER_ENVIRONMENT: 'production' }), false).filter((line) =>
      line.includes('_KEY'),
    )
  expect(keysMissing({})).toHaveLength(1)
  for (const name of ['LEDGER_PART_KEY_FILE', 'LEDGER_MASTER_KEY_FILE'])
    expect(keysMissing({ [name]: 'f' })).toEqual([])
})

describe('LEDGER_BOOTSTRAP_CLIENTS', () => {
  const clients = (...list: readonly object[]): Env => ({ LEDGER_BOOTSTRAP_CLIENTS: JSON.stringify(list) })
  const good = { client_id: 'ops', client_secret: 'a secret of enough length', role: 'admin' }

  test('are read; the boundary is left to the environment unless it is given', () => {
    expect(read(clients(good, { ...good, client_id: 'desk', boundary: ['EUR'] })).bootstrapClients).toEqual([
      {
        clientId: 'ops',
        clientSecret: good.client_secret,
        role: 'admin',
        boundary: undefined,
        accounts: null,
        rate: undefined,
      },
      {
        clientId: 'desk',
        clientSecret: good.client_secret,
        role: 'admin',
        boundary: ['EUR'],
        accounts: null,
        rate: undefined,
      },
    ])
  })

  test('may be scoped to accounts', () => {
    const accounts = ['alice@bank', 'shop:*']
    expect(read(clients({ ...good, accounts })).bootstrapClients).toMatchObject([{ clientId: 'ops', accounts }])
  })

  test('may have a rate', () => {
    const rates = ['50/200', 'none'].map((rate) => read(clients({ ...good, rate })).bootstrapClients?.[0]?.rate)
    expect(rates).toEqual([{ perSecond: 50, burst: 200 }, 'none'])
  })

  test.each([
    [{ ...good, rate: '0' }, 'client 1: rate must be a number a second'],
    [{ ...good, rate: 50 }, 'client 1: rate must be a string'],
    ...[[], ['*'], ['a**'], Array.from({ length: 101 }, (_, n) => `a${n}`)].map((accounts): [object, string] => [
      { ...good, accounts },
      'client 1: accounts must be 1 to 100 account IDs, or prefixes of them that end in *',
    ]),
    [{ ...good, role: 'king' }, 'client 1: role must be one of viewer, transactor, admin'],
    [{ ...good, boundary: 'yes' }, 'client 1: boundary must be true, false or a list of token IDs'],
    ...[['EUR', 'a b'], [1]].map((boundary): [object, string] => [
      { ...good, boundary },
      'client 1: boundary must be true, false or a list of token IDs',
    ]),
    [{ ...good, client_id: '..' }, 'without spaces, other than "." and ".."'],
    [{ client_id: 'ops', role: 'admin' }, 'client 1: client_secret'],
  ])('refuses %j', (client, message) => {
    const [problem] = problems(clients(client))
    expect(problem).toContain(message)
    expect(problem).not.toContain(good.client_secret)
  })

  test('the same client twice and a value that is not an array are refused', () => {
    expect(problems(clients(good, good))[0]).toContain('client 2 has the client_id of an earlier one')
    expect(problems({ LEDGER_BOOTSTRAP_CLIENTS: '{}' })[0]).toContain('a JSON array')
    expect(problems({ LEDGER_BOOTSTRAP_CLIENTS: '[' })[0]).toContain('a JSON array')
  })

  test('a short secret is a warning in the sandbox and refused in production', () => {
    const weak = clients({ ...good, client_secret: 'x'.repeat(15) })
    expect(warnings(weak)).toHaveLength(1)
    expect(problems({ ...weak, LEDGER_ENVIRONMENT: 'production' })).toEqual([
      'LEDGER_BOOTSTRAP_CLIENTS: the secret of client ops has under 16 characters, which production refuses.',
    ])
    expect(warnings(clients({ ...good, client_secret: 'x'.repeat(16) }))).toEqual([])
  })
})

describe('production', () => {
  test('names everything that the sandbox would generate or run itself', () => {
    const missing = missingInProduction(read({ LEDGER_ENVIRONMENT: 'production' }), true).join('\n')
    for (const name of ['MASTER_KEY', 'BOOTSTRAP_CLIENTS', 'DATABASE_URL', 'NATS_URL']) {
      expect(missing).toContain(`LEDGER_${name}`)
    }
  })

  test('names nothing if all is set, or in the sandbox', () => {
    const whole = {
      LEDGER_ENVIRONMENT: 'production',
      LEDGER_MASTER_KEY: KEY,
      LEDGER_BOOTSTRAP_CLIENTS: '[]',
      LEDGER_DATABASE_URL: 'postgres://u:p@db/ledger',
      LEDGER_NATS_URL: 'tls://nats:4222',
    }
    expect(missingInProduction(read(whole), true)).toEqual([])
    expect(missingInProduction(read({}), true)).toEqual([])
  })
})

test('a URL is shown without its password and parameters', () => {
  expect(redactUrl('postgres://me:hunter2@db:5432/ledger?sslkey=hunter2')).toBe('postgres://me:***@db:5432/ledger')
  expect(redactUrl('nats://127.0.0.1:4222')).toBe('nats://127.0.0.1:4222')
})
