/** The faults that are like one of injected-faults.e2e.test.ts from outside, each in another part of a node. */
import { INJECTED_FAULTS } from '../support/processes/injected-faults.ts'
import { injectedFaultsSuite, kindsOf } from './suites/injected-faults.suite.ts'

injectedFaultsSuite(kindsOf(INJECTED_FAULTS).rest)
