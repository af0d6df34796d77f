/** Attacks that link the two sides of a transfer, and accounts that deal with each other. Their only input is rows. */
import type { SeededRandom } from '../simulation/kernel/sim-random.ts'
import { type Dump, groupedBy, isOfTime, lengthIn, type Row, rowsOf, sizeOf, textIn } from './dump.ts'
import { shuffled } from './shuffled.ts'

/** Rows of senders and of receivers, in the order in which they lie. */
export interface Sides {
  readonly senders: readonly Row[]
  readonly receivers: readonly Row[]
}

/** `partners`: by index of the sender's row, the index of the receiver's; -1: no guess. */
export interface LinkGuess {
  readonly name: string
  readonly partners: readonly number[]
}

/** Rows that share a value, by index. */
interface SharedValue {
  readonly senders: readonly number[]
  readonly receivers: readonly number[]
}

export function sidesOf(dump: Dump): Sides {
  const rows = rowsOf(dump, 'transactions')
  const of = (type: string, origin: string) => rows.filter((row) => row['type'] === type && row['origin'] === origin)
  return { senders: of('transfer', 'client'), receivers: of('credit', 'ledger') }
}

/** One guess for each column of senders that shares values with a column of receivers. `ofTime`: columns of time, or all others. */
export function linksByEquality({ senders, receivers }: Sides, ofTime: boolean, random: SeededRandom): LinkGuess[] {
  const columns = Object.keys(senders[0] ?? {})
  const indexes = new Map(columns.map((column) => [column, indexOf(receivers, column)]))
  return columns.flatMap((left) => {
    const values = indexOf(senders, left)
    return columns.flatMap((right): LinkGuess[] => {
      if ((isOfTime(left, senders[0]?.[left]) && isOfTime(right, receivers[0]?.[right])) !== ofTime) return []
      const shared = [...values].flatMap(([value, found]): SharedValue[] => {
        const others = indexes.get(right)?.get(value)
        return others === undefined ? [] : [{ senders: found, receivers: others }]
      })
      if (shared.length === 0) return []
      const name = left === right ? left : `${left} = ${right}`
      return [{ name, partners: pairedAtRandom({ senders, receivers }, shared, random) }]
    })
  })
}

/** One guess for each other table whose rows name transactions of both sides. */
export function linksByMention(dump: Dump, sides: Sides, random: SeededRandom): LinkGuess[] {
  const named = { senders: namesOf(sides.senders), receivers: namesOf(sides.receivers) }
  return [...dump].flatMap(([table, rows]): LinkGuess[] => {
    if (table === 'transactions') return []
    const shared = rows.flatMap((row): SharedValue[] => {
      const values = Object.values(row).flatMap((value) => value?.replaceAll(/[{}]/g, '').split(',') ?? [])
      const among = (names: ReadonlyMap<string, number>): number[] => [
        ...new Set(values.flatMap((value) => names.get(value) ?? [])),
      ]
      const found = { senders: among(named.senders), receivers: among(named.receivers) }
      return found.senders.length > 0 && found.receivers.length > 0 ? [found] : []
    })
    return shared.length === 0 ? [] : [{ name: table, partners: pairedAtRandom(sides, shared, random) }]
  })
}

/** Rows by each value that occurs in one row only. */
function namesOf(rows: readonly Row[]): ReadonlyMap<string, number> {
  const names = new Map<string, number>()
  for (const column of Object.keys(rows[0] ?? {})) {
    for (const [value, found] of indexOf(rows, column)) if (found.length === 1) names.set(value, found[0] ?? -1)
  }
  return names
}

function indexOf(rows: readonly Row[], column: string): Map<string, number[]> {
  const filled = [...rows.keys()].filter((index) => typeof rows[index]?.[column] === 'string')
  return groupedBy(filled, (index) => textIn(rows[index] ?? {}, column))
}

function pairedAtRandom(sides: Sides, shared: readonly SharedValue[], random: SeededRandom): number[] {
  const partners = Array.from({ length: sides.senders.length }, () => -1)
  for (const { senders, receivers } of shared) {
    const mixed = shuffled(receivers, random)
    for (const sender of senders) {
      const account = sides.senders[sender]?.['account_id']
      const place = mixed.findIndex((receiver) => sides.receivers[receiver]?.['account_id'] !== account)
      if (place !== -1) partners[sender] = mixed.splice(place, 1)[0] ?? -1
    }
  }
  return partners
}

/** Order is compared among rows with an equal key. */
const BLOCKS: Readonly<Record<string, (row: Row) => string>> = {
  '': () => '',
  ', equal amount_bucket': (row) => textIn(row, 'amount_bucket'),
  ', equal document length': (row) => String(lengthIn(row, 'document')),
  ', equal both': (row) => `${row['amount_bucket']} ${lengthIn(row, 'document')}`,
}

/** One guess for each pair of orders: columns of time, transaction IDs, and the rows' places. */
export function linksByOrder({ senders, receivers }: Sides): LinkGuess[] {
  const columns = Object.keys(senders[0] ?? {}).filter((column) => isOfTime(column, senders[0]?.[column]))
  const inOrder = (rows: readonly Row[], among: readonly number[], column: string): number[] => {
    if (column === 'place') return [...among]
    if (column === 'txn_id')
      return among.toSorted((a, b) => (textIn(rows[a] ?? {}, column) < textIn(rows[b] ?? {}, column) ? -1 : 1))
    return among.toSorted((a, b) => sizeOf(rows[a]?.[column]) - sizeOf(rows[b]?.[column]))
  }
  const orders = [...columns, 'txn_id', 'place']
  return Object.entries(BLOCKS).flatMap(([block, blockOf]) => {
    const left = groupedBy(senders.keys(), (index) => blockOf(senders[index] ?? {}))
    const right = groupedBy(receivers.keys(), (index) => blockOf(receivers[index] ?? {}))
    return orders.flatMap((from) =>
      orders.map((to): LinkGuess => {
        const partners = Array.from({ length: senders.length }, () => -1)
        for (const [key, sending] of left) {
          const receiving = inOrder(receivers, right.get(key) ?? [], to)
          const sent = inOrder(senders, sending, from)
          const isEarlier = (sender: number, receiver: number): boolean =>
            sizeOf(receivers[receiver]?.[to]) < sizeOf(senders[sender]?.[from])
          const isComparable = from.endsWith('_xid') === to.endsWith('_xid')
          pairInOrder(sent, receiving, isComparable ? isEarlier : () => false, partners)
        }
        return { name: `${from}, ${to}${block}`, partners }
      }),
    )
  })
}

/** Skips receivers' rows that are earlier than the sender's. */
function pairInOrder(
  senders: readonly number[],
  receivers: readonly number[],
  isEarlier: (sender: number, receiver: number) => boolean,
  partners: number[],
): void {
  let next = 0
  for (const sender of senders) {
    while (next < receivers.length && isEarlier(sender, receivers[next] ?? -1)) next += 1
    partners[sender] = receivers[next] ?? -1
    next += 1
  }
}

/** The sender's commit writes a message to the receiver's shard, and the receiver's commit writes the reply. */
export function linksByMessages(dump: Dump, { senders, receivers }: Sides, withBucket: boolean): LinkGuess {
  const written = groupedBy(rowsOf(dump, 'outbox'), (row) => `${row['shard_id']}@${row['written_at']}`)
  const targetsOf = (row: Row): ReadonlySet<string> =>
    new Set(
      (written.get(`${row['shard_id']}@${row['created_at']}`) ?? []).map((found) => textIn(found, 'target_shard')),
    )
  const byShard = groupedBy(receivers.keys(), (index) => textIn(receivers[index] ?? {}, 'shard_id'))
  const backTo = receivers.map(targetsOf)
  const free = new Set(receivers.keys())
  const partners = senders.map((sender) => {
    const possible = [...targetsOf(sender)].flatMap((shard) =>
      (byShard.get(shard) ?? []).filter((index) => {
        const receiver = receivers[index] ?? {}
        if (withBucket && receiver['amount_bucket'] !== sender['amount_bucket']) return false
        const isLater = sizeOf(receiver['created_at']) >= sizeOf(sender['created_at'])
        return free.has(index) && isLater && backTo[index]?.has(textIn(sender, 'shard_id')) === true
      }),
    )
    const sizeAt = (index: number): number => sizeOf(receivers[index]?.['created_at'])
    const [first = -1] = possible.toSorted((one, other) => sizeAt(one) - sizeAt(other))
    free.delete(first)
    return first
  })
  return { name: `outbox${withBucket ? ', equal amount_bucket' : ''}`, partners }
}

/** Number of messages between the shards of two accounts. */
export function messagesBetween(dump: Dump): (one: string, other: string) => number {
  const shards = new Map(rowsOf(dump, 'accounts').map((row) => [row['account_id'], row['shard_id']]))
  const sent = new Map(
    rowsOf(dump, 'outbox_channels').map((row) => [`${row['shard_id']}>${row['target_shard']}`, sizeOf(row['sent'])]),
  )
  return (one, other) => {
    const [left, right] = [shards.get(one), shards.get(other)]
    return (sent.get(`${left}>${right}`) ?? 0) + (sent.get(`${right}>${left}`) ?? 0)
  }
}
