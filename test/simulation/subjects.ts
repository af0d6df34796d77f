/** What travels on which subject of a node. */
export type SubjectKind = 'items' | 'deliveries' | 'control'

export function subjectKind(subject: string): SubjectKind {
  if (subject.endsWith('.deliveries')) return 'deliveries'
  return subject.endsWith('.control') ? 'control' : 'items'
}

export function isDelivery(subject: string): boolean {
  return subjectKind(subject) === 'deliveries'
}
