/** Readers of the event log through one kill of each kind of process. More of all: events.full.test.ts. */
import { eventsSuite } from './suites/events.suite.ts'

eventsSuite({ orders: 2_000, rounds: 1, readWithinMs: 300_000 })
