/** Goal: memory holds no more actors than it may, as soon as nothing needs the others. */
import { expect, test } from 'vitest'
import { Incarnation, passivate, type Resident } from '../../../runtime/node/incarnation.ts'

const START = { lastTransactionId: null, channels: [], marks: [], outbox: [] }

function withResidents(count: number, of: (index: number) => Partial<Resident> = () => ({})): Incarnation {
  const incarnation = new Incarnation({ shardId: 0, epoch: 1, attempt: 0 }, START)
  for (let index = 0; index < count; index += 1) {
    incarnation.residents.set(`actor-${index}`, { state: null, pins: 0, waiting: 0, used: true, ...of(index) })
  }
  return incarnation
}

function names({ residents }: Incarnation): readonly string[] {
  return [...residents].map(([name]) => name)
}

test('of a burst that was all used, no more stay than may', () => {
  const incarnation = withResidents(100)
  passivate(incarnation, 3)
  expect(names(incarnation)).toHaveLength(3)
})

test('who was used since the last look stays before who was not', () => {
  const incarnation = withResidents(10, (index) => ({ used: index % 2 === 0 }))
  passivate(incarnation, 5)
  expect(names(incarnation).toSorted()).toEqual(['actor-0', 'actor-2', 'actor-4', 'actor-6', 'actor-8'])
})

test('who is needed stays, however many they are', () => {
  const incarnation = withResidents(10, (index) => ({ pins: index < 4 ? 1 : 0, waiting: index > 7 ? 1 : 0 }))
  passivate(incarnation, 2)
  expect(names(incarnation)).toEqual(['actor-0', 'actor-1', 'actor-2', 'actor-3', 'actor-8', 'actor-9'])
})

test('within the bound nothing goes', () => {
  const incarnation = withResidents(10, () => ({ used: false }))
  passivate(incarnation, 10)
  expect(names(incarnation)).toHaveLength(10)
})
