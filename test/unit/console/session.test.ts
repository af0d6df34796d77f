/** The sign-in, and the stream of events that the pages share. */
import { describe, expect, test } from 'vitest'
import type { FollowedEvent, LedgerClient } from '../../../api/client/index.ts'
import { type ArrivedEvent, EventFeed, type FeedState } from '../../../api/console/session/event-feed.ts'
import { readClients } from '../../../api/console/session/given-clients.ts'
import { roleIn } from '../../../api/console/session/token-role.ts'

function tokenWith(claims: unknown): string {
  return `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.signature`
}

test('the role is that of the token; of any other text there is none', () => {
  expect(roleIn(tokenWith({ role: 'viewer', text: '???>>>' }))).toBe('viewer')
  for (const text of ['', 'a.b.c', tokenWith(null), tokenWith({ role: 'owner' })]) expect(roleIn(text)).toBeUndefined()
})

test('a pasted clients.json gives its clients, the administrator first; any other text gives none', () => {
  const clients = ['viewer', 'admin'].map((role) => ({ client_id: role, client_secret: `secret of ${role}`, role }))
  const pasted = JSON.stringify(clients, null, 2).replaceAll('\n', '')
  expect(readClients(pasted)).toEqual([
    { clientId: 'admin', secret: 'secret of admin', role: 'admin' },
    { clientId: 'viewer', secret: 'secret of viewer', role: 'viewer' },
  ])
  for (const text of ['lsk_secret', '[', '[1,null,{"client_id":"a"}]', '{}']) expect(readClients(text)).toEqual([])
})

test('pasted lines of the first start give their clients, also after a field has removed the ends of lines', () => {
  const lines = ['  viewer (viewer): lsk_one', '  the-admin (admin): lsk_two']
  const clients = [
    { clientId: 'the-admin', secret: 'lsk_two', role: 'admin' },
    { clientId: 'viewer', secret: 'lsk_one', role: 'viewer' },
  ]
  expect(readClients(lines.join('\n'))).toEqual(clients)
  expect(readClients(lines.join(''))).toEqual(clients)
  expect(readClients('owner (owner): lsk_three')).toEqual([])
})

describe('the feed of events', () => {
  /** A stream whose events the test gives one by one. */
  function scripted() {
    const waiting: ((event: FollowedEvent) => void)[] = []
    const signals: AbortSignal[] = []
    const events: LedgerClient['events'] = async function* events(filter) {
      const signal = filter?.signal
      if (signal !== undefined) signals.push(signal)
      for (;;) {
        yield await new Promise<FollowedEvent>((resolve, reject) => {
          waiting.push(resolve)
          signal?.addEventListener('abort', () => reject(signal.reason as Error))
        })
      }
    }
    const give = async (id: string): Promise<void> => {
      await expect.poll(() => waiting.length).toBeGreaterThan(0)
      waiting.shift()?.({ cursor: id, event: { id } as FollowedEvent['event'] })
    }
    return { events, give, signals }
  }

  test('is one stream for all listeners, which ends with the last of them', async () => {
    const { events, give, signals } = scripted()
    const feed = new EventFeed({ events })
    const heard: string[][] = [[], []]
    const listener = (index: number) => ({
      onEvents: (arrived: readonly ArrivedEvent[]) => void heard[index]?.push(...arrived.map(({ event }) => event.id)),
      onState: () => undefined,
    })
    const ends = [feed.listen(listener(0)), feed.listen(listener(1))]
    await give('one')
    await give('two')
    await expect
      .poll(() => heard)
      .toEqual([
        ['one', 'two'],
        ['one', 'two'],
      ])
    expect(signals).toHaveLength(1)
    ends[0]?.()
    expect(signals[0]?.aborted).toBe(false)
    ends[1]?.()
    expect(signals[0]?.aborted).toBe(true)
  })

  test('tells its listeners when the ledger refuses it', async () => {
    const feed = new EventFeed({
      // oxlint-disable-next-line require-yield
      events: async function* events() {
        throw new Error('refused')
      },
    })
    const states: FeedState[] = []
    feed.listen({ onEvents: () => undefined, onState: (state) => void states.push(state) })
    await expect.poll(() => states).toEqual(['following', 'failed'])
  })
})
