/** Every fault of a node once. Several rounds on more shards: many-nodes.full.test.ts. */
import { manyNodesSuite } from './suites/many-nodes.suite.ts'

manyNodesSuite({ shards: 6, rounds: 1, hangsMs: 0, isWhole: false })
