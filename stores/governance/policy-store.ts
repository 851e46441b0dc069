import type { PolicyFields } from '../../contracts/governance/policy';
import type { Database } from '../port/collection';
import { createConfiguredRecords } from '../port/configured-records';
import { seedOnce } from '../port/seed-once';

/** Three presets of caution, each disabled until a board enables it. */
const presets: Record<string, PolicyFields> = {
  strict: {
    type: 'risk-threshold',
    name: 'Strict',
    description: 'Blocks risky actions.',
    enabled: false,
    scope: {},
    precedence: 0,
    responseAction: 'block',
    config: { threshold: 80, comparator: 'gte' },
  },
  balanced: {
    type: 'risk-threshold',
    name: 'Balanced',
    description: 'Requires an approval before risky actions.',
    enabled: false,
    scope: {},
    precedence: 0,
    responseAction: 'require-approval',
    config: { threshold: 65, comparator: 'gte' },
  },
  permissive: {
    type: 'rate-limit',
    name: 'Permissive',
    description: 'Warns of an agent with an unusual number of actions.',
    enabled: false,
    scope: {},
    precedence: 0,
    responseAction: 'warn',
    config: { maxAttempts: 60, windowMs: 60_000, scopeKey: 'agent' },
  },
};

/** Policies by id. Opening makes the presets, once. */
export async function createPolicyStore(db: Database) {
  const policies = await createConfiguredRecords<PolicyFields>(db, 'policies');
  await seedOnce(db, 'policies', { records: policies, seeds: new Map(Object.entries(presets)) });
  return policies;
}

export type PolicyStore = Awaited<ReturnType<typeof createPolicyStore>>;
