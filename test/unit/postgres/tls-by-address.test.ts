/** Goal: whoever reaches PostgreSQL by its address, and wants it verified, has its certificate held against that address. */
import { expect, test } from 'vitest'
import { tlsByAddress } from '../../../infra/postgres/tls-by-address.ts'

test.for([
  ['postgres://u@10.0.0.1:5432/ledger?sslmode=verify-full', '10.0.0.1'],
  ['postgres://u@[fd00::1]/ledger?sslmode=verify-full', 'fd00::1'],
  ['postgres://u@127.0.0.1/ledger?sslmode=disable&sslmode=verify-full', '127.0.0.1'],
  ['postgres://u@127.0.0.1/ledger?sslmode=verify-ca', '127.0.0.1'],
  ['postgres://u@127.0.0.1/ledger?ssl=true', '127.0.0.1'],
] as const)('T1: %s is for %s', ([url, host]) => {
  expect(tlsByAddress(url)).toEqual({ ssl: { host } })
})

test.for([
  'postgres://u@db.example.com/ledger?sslmode=verify-full',
  'postgres://u@10.0.0.1/ledger',
  'postgres://u@10.0.0.1/ledger?sslmode=disable',
  'postgres://u@10.0.0.1/ledger?sslmode=require',
  'postgres://u@10.0.0.1/ledger?sslmode=verify-full&sslmode=prefer',
])('the driver goes by the URL alone for %s', (url) => {
  expect(tlsByAddress(url)).toEqual({})
})
