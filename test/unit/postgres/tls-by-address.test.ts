/** T1 to T3 of tls-by-address.ts: the options of TLS for servers by address and by name. */
import { expect, test } from 'vitest'
import { tlsOptions } from '../../../infra/postgres/connection/tls-by-address.ts'

const { signal } = new AbortController()

test.for([
  ['postgres://u@10.0.0.1:5432/ledger?sslmode=verify-full', '10.0.0.1'],
  ['postgres://u@[fd00::1]/ledger?sslmode=verify-full', 'fd00::1'],
  ['postgres://u@127.0.0.1/ledger?sslmode=disable&sslmode=verify-full', '127.0.0.1'],
  ['postgres://u@127.0.0.1/ledger?sslmode=verify-ca', '127.0.0.1'],
  ['postgres://u@127.0.0.1/ledger?ssl=true', '127.0.0.1'],
  ['postgres://u@127.0.0.1/ledger?sslmode=&ssl=verify-full', '127.0.0.1'],
  ['postgres://u@127.0.0.1/ledger?sslmode=require&sslrootcert=system', '127.0.0.1'],
] as const)('T1: %s is for %s', ([url, host]) => {
  expect(tlsOptions(url, signal)).toEqual({ ssl: { host, signal } })
})

test.for(['verify-full', 'verify-ca', 'true', 'Require', 'unheard-of'])(
  'T3: sslmode=%s verifies a server given by name',
  (mode) => {
    expect(tlsOptions(`postgres://u@db.example.com/ledger?sslmode=${mode}`, signal)).toEqual({ ssl: { signal } })
  },
)

test.for(['require', 'allow'])('T2: TLS without verification gets the signal too (%s)', (mode) => {
  const expected = { ssl: { rejectUnauthorized: false, signal } }
  expect(tlsOptions(`postgres://u@10.0.0.1/ledger?sslmode=${mode}`, signal)).toEqual(expected)
  expect(tlsOptions(`postgres://u@db.example.com/ledger?ssl=${mode}`, signal)).toEqual(expected)
})

test.for([
  'postgres://u@10.0.0.1/ledger',
  'postgres://u@10.0.0.1/ledger?sslmode=disable',
  'postgres://u@10.0.0.1/ledger?ssl=false',
  'postgres://u@10.0.0.1/ledger?sslmode=verify-full&sslmode=prefer',
])('the driver goes by the URL alone for %s', (url) => {
  expect(tlsOptions(url, signal)).toEqual({})
})
