/** The faults of nodes again and again, and a node that hangs for half a minute; told as a table. */
import { manyNodesSuite } from './suites/many-nodes.suite.ts'

manyNodesSuite({ shards: 16, rounds: 5, hangsMs: 30_000, isWhole: true })
