/**
 * Plans by key, whatever the statistics say: a plan is made once a connection, perhaps while the tables are empty, and
 * is then used for as long as the connection lives. For connections whose every statement finds rows by primary key.
 */
export const PLAN_SETTINGS: Readonly<Record<string, string>> = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_memoize: 'off',
  enable_material: 'off',
}
