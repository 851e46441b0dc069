import type { PolicyFields } from '../contracts/policy';
import type { Database } from './collection';
import { createConfiguredRecords } from './configured-records';
import { seedOnce } from './seed-once';

/** Three ways to be careful, of which a board turns on what it wants. */
const presets: Record<string, PolicyFields> = {
  strict: {
    type: 'risk-threshold',
    name: 'Strict',
    description: 'Blocks what is risky.',
    enabled: false,
    scope: {},
    precedence: 0,
    responseAction: 'block',
    config: { threshold: 80, comparator: 'gte' },
  },
  balanced: {
    type: 'risk-threshold',
    name: 'Balanced',
    description: 'Asks somebody before what may be risky.',
    enabled: false,
    scope: {},
    precedence: 0,
    responseAction: 'require-approval',
    config: { threshold: 65, comparator: 'gte' },
  },
  permissive: {
    type: 'rate-limit',
    name: 'Permissive',
    description: 'Warns of an agent that does very much at once.',
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
  await seedOnce(db, 'policies', policies, new Map(Object.entries(presets)));
  return policies;
}

export type PolicyStore = Awaited<ReturnType<typeof createPolicyStore>>;
