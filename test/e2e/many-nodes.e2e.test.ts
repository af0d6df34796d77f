/** Every fault of a node once; many-nodes.full.test.ts has rounds of them, and more. */
import { manyNodesSuite } from './many-nodes.suite.ts'

manyNodesSuite(1, 0, false)
