import type { ToolPolicyFields } from '../../contracts/governance/tool-policy';
import type { Database } from '../port/collection';
import { createConfiguredRecords } from '../port/configured-records';
import { seedOnce } from '../port/seed-once';

const reading = ['read*', 'search*', 'list*', 'get*'];
const writing = ['write*', 'edit*', 'create*'];
const executing = ['execute*', 'run*', 'test*'];
const browsing = ['web*', 'browse*', 'fetch*'];
const publishing = ['deploy*', 'publish*', 'release*'];

const defaults: Record<string, ToolPolicyFields> = {
  planner: { allowed: [...reading, 'plan*'], denied: [], description: 'Reads and plans; changes nothing.' },
  developer: { allowed: ['*'], denied: publishing, description: 'Writes and runs code; does not publish it.' },
  reviewer: { allowed: [...reading, 'comment*', 'test*'], denied: [], description: 'Reads, tests and comments.' },
  tester: { allowed: [...reading, ...executing], denied: publishing, description: 'Reads and runs tests.' },
  deployer: { allowed: [...reading, ...executing, ...publishing], denied: ['edit*'], description: 'Publishes.' },
  researcher: { allowed: [...reading, ...browsing], denied: [], description: 'Reads, also on the web.' },
  orchestrator: { allowed: ['*'], denied: [], description: 'Uses every tool.' },
  'content-writer': { allowed: [...reading, ...writing, ...browsing], denied: executing, description: 'Writes text.' },
  intern: { allowed: reading, denied: publishing, description: 'Only reads.' },
};

/** Which tools each role may use, by role. Opening makes the default roles, once. */
export async function createToolPolicyStore(db: Database) {
  const policies = await createConfiguredRecords<ToolPolicyFields>(db, 'tool-policies');
  await seedOnce(db, 'tool-policies', { records: policies, seeds: new Map(Object.entries(defaults)) });
  return policies;
}

export type ToolPolicyStore = Awaited<ReturnType<typeof createToolPolicyStore>>;
