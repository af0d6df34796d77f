/** The event log through many kills, with a receiver that fails one time in five. Prints the progress. */
import { eventsSuite } from './suites/events.suite.ts'

eventsSuite({ orders: 170_000, rounds: 6, readWithinMs: 3_600_000 })
