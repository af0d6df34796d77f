/** The invariants that tests quote by their numbers. */
export const INVARIANTS: readonly string[] = [
  'I1',
  'I1b',
  'I2',
  'I3',
  'I4',
  'I5',
  'I6',
  'I7',
  'I8',
  'I9',
  'I10',
  'I11',
  'I12',
]
