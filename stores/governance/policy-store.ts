import type { PolicyFields } from '../../contracts/governance/policy';
import { isAboutProject } from '../../domain/governance/policy-scope';
import type { Database, Stored } from '../port/collection';
import { createConfiguredRecords, type Recorded } from '../port/configured-records';
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

/** Counts the changes of all policies, so that one small read shows whether a copy of them is current. */
interface Changes extends Stored {
  count: number;
}

/**
 * How long a copy of the policies is used at most, in milliseconds, although no change was counted: a process that died between
 * the change of a policy and its count leaves other processes with the old ones for that long.
 */
const longestCopyMs = 5_000;

type PolicyRecord = PolicyFields & Recorded;

/** The policies that are turned on, as one process has them. */
interface PolicyCopy {
  count: number;
  at: number;
  enabled: readonly PolicyRecord[];
  /** Those of them that may be about what is in a project, for each project that was asked about. */
  byProject: Map<string | undefined, readonly PolicyRecord[]>;
}

/** For how many projects a copy has them apart; task authors choose the names. */
const maxProjects = 1_000;

function aboutProject({ enabled, byProject }: PolicyCopy, project: string | undefined): readonly PolicyRecord[] {
  const known = byProject.get(project);
  if (known) {
    return known;
  }
  const about = enabled.filter(({ scope }) => isAboutProject(scope, { project }));
  if (byProject.size >= maxProjects) {
    byProject.clear();
  }
  byProject.set(project, about);
  return about;
}

/** The order in which policies are evaluated and reported. */
const byPrecedence = (a: PolicyRecord, b: PolicyRecord): number =>
  b.precedence - a.precedence || a.id.localeCompare(b.id);

/** Policies by id. Opening makes the presets, once. */
export async function createPolicyStore(db: Database, now: () => number = Date.now) {
  const policies = await createConfiguredRecords<PolicyFields>(db, 'policies');
  const changes = await db.collection<Changes>({ name: 'policy-changes' });
  await seedOnce(db, 'policies', { records: policies, seeds: new Map(Object.entries(presets)) });
  let copy: PolicyCopy | undefined;

  /** Makes a change, and counts it before it is answered: a change that was answered is in effect in every process. */
  const counted =
    <A extends unknown[], R>(change: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      const result = await change(...args);
      await changes.findOneAndUpdate({ _id: 'policies' }, { $inc: { count: 1 } }, { upsert: true });
      return result;
    };

  return {
    ...policies,
    put: counted(policies.put),
    change: counted((id: string, change: Parameters<typeof policies.change>[1]) => policies.change(id, change)),
    create: counted(policies.create),
    remove: counted((id: string, expectedRevision?: number) => policies.remove(id, expectedRevision)),

    /**
     * Those that are turned on, the highest precedence first: a copy, unless a policy was changed since it was made.
     *
     * @param about without those that are limited to other projects
     */
    async enabled(about?: { project: string | undefined }): Promise<readonly PolicyRecord[]> {
      const count = (await changes.get('policies'))?.count ?? 0;
      if (!copy || copy.count !== count || now() - copy.at > longestCopyMs) {
        const at = now();
        const enabled = (await policies.list()).filter((policy) => policy.enabled).sort(byPrecedence);
        copy = { count, at, enabled, byProject: new Map() };
      }
      return about ? aboutProject(copy, about.project) : copy.enabled;
    },
  };
}

export type PolicyStore = Awaited<ReturnType<typeof createPolicyStore>>;
