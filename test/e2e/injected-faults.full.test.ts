/** Faults in other parts of a node, which clients cannot distinguish from those of injected-faults.e2e.test.ts. */
import { INJECTED_FAULTS } from '../support/processes/injected-faults.ts'
import { injectedFaultsSuite, kindsOf } from './suites/injected-faults.suite.ts'

injectedFaultsSuite(kindsOf(INJECTED_FAULTS).rest)
