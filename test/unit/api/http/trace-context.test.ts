/** C1, C2: the edge accepts only a well-formed trace context of bounded size. */
import { describe, expect, test } from 'vitest'
import { readTraceContext } from '../../../../api/http/trace-context.ts'

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT_ID = '00f067aa0ba902b7'
const SPAN_ID = 'ab'.repeat(8)
const GOOD = `00-${TRACE_ID}-${PARENT_ID}-01`
const random = { hex: (bytes: number) => 'ab'.repeat(bytes) }
const read = (traceparent?: string, tracestate?: string) => readTraceContext(traceparent, tracestate, random)

describe('traceparent', () => {
  test('continues the trace in a new span below the client’s', () => {
    expect(read(GOOD)).toEqual({
      traceId: TRACE_ID,
      spanId: SPAN_ID,
      parentSpanId: PARENT_ID,
      sampled: true,
      state: '',
    })
  })

  test.for([
    ['00', false],
    ['01', true],
    ['02', false],
    ['ff', true],
  ] as const)('has the sampled bit in its flags %s: %s', ([flags, sampled]) => {
    expect(read(`00-${TRACE_ID}-${PARENT_ID}-${flags}`)?.sampled).toBe(sampled)
  })

  test('of a later version may have more fields, which are ignored', () => {
    expect(read(`cc-${TRACE_ID}-${PARENT_ID}-01`)?.traceId).toBe(TRACE_ID)
    expect(read(`cc-${TRACE_ID}-${PARENT_ID}-01-what-is-to-come`)?.traceId).toBe(TRACE_ID)
    expect(read(`cc-${TRACE_ID}-${PARENT_ID}-01.what-is-to-come`)).toBeUndefined()
  })

  test('C1: is required: tracestate alone starts no trace', () => {
    expect(read(undefined, 'a=b')).toBeUndefined()
  })

  test.for([
    ['empty', ''],
    ['of version ff', `ff-${TRACE_ID}-${PARENT_ID}-01`],
    ['of version 00 with more', `${GOOD}-more`],
    ['with a trace ID of zeros', `00-${'0'.repeat(32)}-${PARENT_ID}-01`],
    ['with a parent ID of zeros', `00-${TRACE_ID}-${'0'.repeat(16)}-01`],
    ['in upper case', GOOD.toUpperCase()],
    ['too short', `00-${TRACE_ID.slice(1)}-${PARENT_ID}-01`],
    ['too long', `00-${TRACE_ID}0-${PARENT_ID}-01`],
    ['not hexadecimal', `00-${TRACE_ID.replace('4', 'g')}-${PARENT_ID}-01`],
    ['with blanks around it', ` ${GOOD} `],
    ['with a line after it', `${GOOD}\n`],
    ['sent twice', `${GOOD}, ${GOOD}`],
    ['without flags', `00-${TRACE_ID}-${PARENT_ID}`],
  ] as const)('C1: is ignored if it is %s', ([, traceparent]) => {
    expect(read(traceparent)).toBeUndefined()
  })
})

describe('tracestate', () => {
  const stateOf = (tracestate: string) => read(GOOD, tracestate)?.state
  const members = (count: number) => Array.from({ length: count }, (_, index) => `k${index}=v`).join(',')

  test.for([
    ['vendor=value', 'vendor=value'],
    ['a=1, b=2\t,c=3', 'a=1,b=2,c=3'],
    ['a=1,,', 'a=1'],
    ['tenant@system=x', 'tenant@system=x'],
    ['0tenant@system=x', '0tenant@system=x'],
    ['a-b_c/d*e=! "#$%&', 'a-b_c/d*e=! "#$%&'],
    [members(32), members(32)],
    [`a=${'v'.repeat(256)}`, `a=${'v'.repeat(256)}`],
  ] as const)('%s is passed on', ([tracestate, expected]) => {
    expect(stateOf(tracestate)).toBe(expected)
  })

  test.for([
    ['that has a key twice', 'a=1,b=2,a=3'],
    ['with a key in upper case', 'Vendor=1'],
    ['with a key that begins with a digit', '1a=1'],
    ['without a value', 'a='],
    ['without an equals sign', 'a'],
    ['with one too many', 'a=b=c'],
    ['with an umlaut', 'a=ü'],
    ['with a tenant of no system', 'tenant@=1'],
    ['with a system of 15 characters', `tenant@${'s'.repeat(15)}=1`],
    ['with a value of 257 characters', `a=${'v'.repeat(257)}`],
    ['with a key of 257 characters', `${'k'.repeat(257)}=1`],
    ['with 33 members', members(33)],
    ['of 513 characters', `a=${'v'.repeat(250)},b=${'v'.repeat(250)},c=${'v'.repeat(5)}`],
  ] as const)('C2: is dropped without ending the trace: one %s', ([, tracestate]) => {
    expect(read(GOOD, tracestate)).toMatchObject({ traceId: TRACE_ID, state: '' })
  })

  test('C2: may have 512 characters', () => {
    const longest = `a=${'v'.repeat(250)},b=${'v'.repeat(250)},c=${'v'.repeat(4)}`
    expect(longest).toHaveLength(512)
    expect(stateOf(longest)).toBe(longest)
  })
})
