/** Every fault of a node once; many-nodes.full.test.ts has rounds of them on more shards, and more. */
import { manyNodesSuite } from './suites/many-nodes.suite.ts'

manyNodesSuite({ shards: 6, rounds: 1, hangsMs: 0, isWhole: false })
