/** Several rounds of the faults of nodes, with a node that hangs for half a minute. Prints a table. */
import { manyNodesSuite } from './suites/many-nodes.suite.ts'

manyNodesSuite({ shards: 16, rounds: 5, hangsMs: 30_000, isWhole: true })
