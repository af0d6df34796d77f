/** Actors leave memory down to the limit as soon as no command needs them. */
import { expect, test } from 'vitest'
import {
  Incarnation,
  passivate,
  type Resident,
  setState,
  takeUp,
} from '../../../../../runtime/node/shard/incarnation.ts'
import { afterSteps, registerCommand, stateAfter, stepAccount, submitCommand } from '../../../../support/accounts.ts'

const START = { lastTransactionId: null, channels: [], marks: [], outbox: [] }

const LIMITS = { maxResidents: Infinity, maxResidentBytes: Infinity }

function withResidents(count: number, of: (index: number) => Partial<Resident> = () => ({})): Incarnation {
  const incarnation = new Incarnation({ shardId: 0, epoch: 1, attempt: 0 }, START)
  for (let index = 0; index < count; index += 1) {
    const resident = { state: null, bytes: 0, pins: 0, waiting: 0, used: true, ...of(index) }
    incarnation.residentBytes += resident.bytes
    incarnation.residents.set(`actor-${index}`, resident)
  }
  return incarnation
}

function names({ residents }: Incarnation): readonly string[] {
  return [...residents].map(([name]) => name)
}

test('after a burst in which all were used, at most the bound stays', () => {
  const incarnation = withResidents(100)
  passivate(incarnation, { ...LIMITS, maxResidents: 3 })
  expect(names(incarnation)).toHaveLength(3)
})

test('those used since the last look stay longer than those that were not', () => {
  const incarnation = withResidents(10, (index) => ({ used: index % 2 === 0 }))
  passivate(incarnation, { ...LIMITS, maxResidents: 5 })
  expect(names(incarnation).toSorted()).toEqual(['actor-0', 'actor-2', 'actor-4', 'actor-6', 'actor-8'])
})

test('those that are needed stay, however many they are', () => {
  const incarnation = withResidents(10, (index) => ({ pins: index < 4 ? 1 : 0, waiting: index > 7 ? 1 : 0 }))
  passivate(incarnation, { ...LIMITS, maxResidents: 2 })
  expect(names(incarnation)).toEqual(['actor-0', 'actor-1', 'actor-2', 'actor-3', 'actor-8', 'actor-9'])
})

test('within the bound nothing goes', () => {
  const incarnation = withResidents(10, () => ({ used: false }))
  passivate(incarnation, { ...LIMITS, maxResidents: 10 })
  expect(names(incarnation)).toHaveLength(10)
})

test('as many stay as are within the bytes, and what goes counts no more', () => {
  const incarnation = withResidents(10, (index) => ({ bytes: 1_000, used: index === 0 }))
  passivate(incarnation, { ...LIMITS, maxResidentBytes: 3_500 })
  expect(names(incarnation).toSorted()).toEqual(['actor-0', 'actor-8', 'actor-9'])
  expect(incarnation.residentBytes).toBe(3_000)
})

test('an actor is weighed anew as its state changes', () => {
  const incarnation = withResidents(0)
  const account = afterSteps(registerCommand())
  const resident = takeUp(incarnation, 'a', account)
  const before = incarnation.residentBytes
  setState(incarnation, resident, stateAfter(stepAccount(account, submitCommand())))
  expect(incarnation.residentBytes).toBeGreaterThan(before)
  passivate(incarnation, { ...LIMITS, maxResidents: 0 })
  expect(incarnation.residentBytes).toBe(0)
})
