/** RFC 9110, 10.1.1: a client that waits for 100 (Continue) gets a refusal by its headers without sending the body. */
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { portOf } from '../../support/processes/served-app.ts'
import { createEdgeFixture } from '../api/fakes/edge-fixture.ts'

/** The status lines for a client that sends its body only after 100 (Continue), until the connection closes. */
async function statusesOf(head: readonly string[], body: string): Promise<readonly number[]> {
  const edge = createEdgeFixture()
  const port = await portOf(edge.app)
  const token = await edge.tokenFor('transactor')
  const viewer = await edge.tokenFor('viewer')
  const lines = [...head, 'Host: ledger', 'Expect: 100-continue', '', ''].join('\r\n')
  return new Promise((resolve, reject) => {
    let text = ''
    let asked = false
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(lines.replace('TOKEN', token).replace('VIEWER', viewer))
    })
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
      if (asked || !text.includes(' 100 Continue\r\n')) return
      asked = true
      socket.write(body)
    })
    socket.on('error', reject)
    socket.on('close', () => resolve([...text.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => Number(status))))
  })
}

const POST = 'POST /v1/transactions HTTP/1.1'
const JSON_TYPE = 'Content-Type: application/json'
const BEARER = 'Authorization: Bearer TOKEN'

test.for([
  ['no token', [POST, JSON_TYPE, 'Content-Length: 2'], [401]],
  ['a role that may not', [POST, 'Authorization: Bearer VIEWER', JSON_TYPE, 'Content-Length: 2'], [403]],
  ['a length above the limit', [POST, BEARER, JSON_TYPE, 'Content-Length: 1048577'], [413]],
  ['another type', [POST, BEARER, 'Content-Type: text/plain', 'Content-Length: 2'], [415]],
  ['another type, without a length', [POST, BEARER, 'Content-Type: text/plain', 'Transfer-Encoding: chunked'], [415]],
  ['no such path', ['POST /nowhere HTTP/1.1', JSON_TYPE, 'Content-Length: 2'], [404]],
  ['a method that is not there', ['PUT /healthz HTTP/1.1', 'Content-Length: 2'], [405]],
  [
    'a misspelt parameter',
    ['POST /v1/transactions?x=1 HTTP/1.1', BEARER, 'Content-Type: text/plain', 'Content-Length: 2'],
    [415],
  ],
] as const)('with %s the final status comes at once, and the connection ends', async ([, head, statuses]) => {
  expect(await statusesOf(head, '{}')).toEqual(statuses)
})

test('a needed body is requested once', async () => {
  const head = [POST, BEARER, JSON_TYPE, 'Content-Length: 2', 'Connection: close']
  expect(await statusesOf(head, '{}')).toEqual([100, 400])
})
