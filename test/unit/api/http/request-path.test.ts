import { expect, test } from 'vitest'
import { pathOfTarget } from '../../../../api/http/request-path.ts'

test.for([
  ['/v1/accounts/a%20b?x=/y', '/v1/accounts/a%20b'],
  ['/v1/accounts/../%2e', '/v1/accounts/../%2e'],
  ['/a#b', '/a'],
  ['http://ledger:8080/v1/accounts?x', '/v1/accounts'],
  ['HTTP://ledger', '/'],
  ['*', '/'],
  ['ledger:443', '/'],
  ['', '/'],
  // Bytes that a path must encode: é in UTF-8, as Node decodes it.
  ['/caf\u00c3\u00a9/"<\\>^`{|}', '/caf%C3%A9/%22%3C%5C%3E%5E%60%7B%7C%7D'],
  ['/100%/%4/%41', '/100%25/%254/%41'],
] as const)('D14: the path of the target %j is %s', ([target, path]) => {
  expect(pathOfTarget(target)).toBe(path)
})
