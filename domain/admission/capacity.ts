import { localWorkspace } from '../../contracts/common';
import type { AdmissionScope, Capacity, EvaluatedPolicy } from '../../contracts/runs/admission';
import type { AdmissionSettings, Ceiling } from '../../contracts/settings/settings';
import { textDigest } from '../../platform/json/digest';

export const resources = ['runs', 'processes', 'memoryMb'] as const;
export const nothing: Capacity = { runs: 0, processes: 0, memoryMb: 0 };

/** What a launch is counted under. */
export interface ScopeIds {
  workspaceId: string;
  rootTaskId: string;
  provider: string;
  /** `null` for a run that no host of the board executes. */
  hostId: string | null;
  rootObjectiveId: string;
}

export interface Scope {
  scope: AdmissionScope;
  /** As it may be shown: hosts and root tasks hashed. */
  scopeId: string;
  /** Its name in the ledger: without dots, which would be paths. */
  key: string;
}

/** The usage of every scope that is used at all, by its key. */
export type Usage = Readonly<Record<string, Capacity | undefined>>;

/** A ceiling, and the key of what it is compared with. */
export interface CapacityPolicy extends EvaluatedPolicy {
  key: string;
  /** Workers come and go: a host without capacity for a launch now may have some later. */
  passing?: boolean;
}

/** The scheduler hashes the same few thousand again and again, all of them in each pass of a deep queue. */
const hashed = new Map<string, string>();
const maxHashed = 20_000;

/** The placeholder of an identity that is not shown. */
export function hashedId(kind: string, id: string): string {
  const name = `${kind} ${id}`;
  const hash = hashed.get(name);
  if (hash !== undefined) {
    return hash;
  }
  const made = `${kind}_${textDigest(id).slice(7, 31)}`;
  if (hashed.size >= maxHashed) {
    hashed.clear();
  }
  hashed.set(name, made);
  return made;
}

export const globalScope: Scope = { scope: 'global', scopeId: 'global', key: 'global' };
export const hostKey = (hostId: string): string => hashedId('host', hostId);
const treeKey = (rootObjectiveId: string): string => hashedId('tree', rootObjectiveId);

/** Two workspaces may have tasks of one id, which share no quota. */
export const rootTaskKey = ({ workspaceId, rootTaskId }: Pick<ScopeIds, 'workspaceId' | 'rootTaskId'>): string =>
  hashedId('root-task', workspaceId === localWorkspace ? rootTaskId : `${workspaceId} ${rootTaskId}`);

/** Every scope a launch is counted under, the widest first. */
export function scopesOf({ workspaceId, rootTaskId, provider, hostId, rootObjectiveId }: ScopeIds): Scope[] {
  const rootTask = rootTaskKey({ workspaceId, rootTaskId });
  return [
    globalScope,
    { scope: 'workspace', scopeId: workspaceId, key: hashedId('workspace', workspaceId) },
    { scope: 'root-task', scopeId: rootTask, key: rootTask },
    { scope: 'provider', scopeId: provider, key: hashedId('provider', provider) },
    ...(hostId === null ? [] : [{ scope: 'host' as const, scopeId: hostKey(hostId), key: hostKey(hostId) }]),
    { scope: 'tree', scopeId: rootObjectiveId, key: treeKey(rootObjectiveId) },
  ];
}

/**
 * The scopes that the ledger counts a launch in: those that many launches share, and its root task where that has a ceiling. A
 * tree has none.
 */
export const countedScopes = (ids: ScopeIds, policies: readonly CapacityPolicy[]): Scope[] =>
  scopesOf(ids).filter(({ scope, key }) =>
    scope === 'root-task' ? policies.some((policy) => policy.key === key) : scope !== 'tree',
  );

/**
 * The ceilings of a launch: those of the settings, and the capacity that its host has announced.
 *
 * @param hostRuns runs the live workers of the launch's host execute at a time; `undefined` when none announced any
 */
export function policiesOf(settings: AdmissionSettings, ids: ScopeIds, hostRuns?: number): CapacityPolicy[] {
  if (!settings.enabled) {
    return [];
  }
  const { limits } = settings;
  const ceilings: Partial<Record<AdmissionScope, Ceiling>> = {
    global: limits.global,
    workspace: limits.workspace,
    'root-task': limits.rootTask,
    provider: limits.provider,
    host: limits.host,
  };
  return scopesOf(ids).flatMap(({ scope, scopeId, key }) => {
    const configured = resources.flatMap((resource): CapacityPolicy[] => {
      const limit = ceilings[scope]?.[resource] ?? null;
      return limit === null ? [] : [{ policy: `${scope}.${resource}`, scope, scopeId, resource, limit, key }];
    });
    if (scope !== 'host' || hostRuns === undefined) {
      return configured;
    }
    const stricter = configured.some(({ resource, limit }) => resource === 'runs' && limit <= hostRuns);
    if (stricter) {
      return configured;
    }
    const announced: CapacityPolicy = { policy: 'host.runs', scope, scopeId, resource: 'runs', limit: hostRuns, key };
    return [...configured, { ...announced, passing: true }];
  });
}

/** The first ceiling that the request exceeds by itself: no waiting will ever help it. */
export const deniedBy = (policies: CapacityPolicy[], requested: Capacity): CapacityPolicy | undefined =>
  policies.find(({ resource, limit, passing }) => !passing && requested[resource] > limit);

/** The ceilings without remaining capacity for the request. */
export const blockedBy = (policies: CapacityPolicy[], usage: Usage, requested: Capacity): CapacityPolicy[] =>
  policies.filter(({ key, resource, limit }) => (usage[key]?.[resource] ?? 0) + requested[resource] > limit);

export function plus(a: Capacity, b: Capacity): Capacity {
  return { runs: a.runs + b.runs, processes: a.processes + b.processes, memoryMb: a.memoryMb + b.memoryMb };
}

export function minus(a: Capacity, b: Capacity): Capacity {
  return { runs: a.runs - b.runs, processes: a.processes - b.processes, memoryMb: a.memoryMb - b.memoryMb };
}

/** A policy as it is stored and shown. */
export const evaluated = ({ key: _key, passing: _passing, ...policy }: CapacityPolicy): EvaluatedPolicy => policy;

/** The scopes of some policies, each once. */
export function limiting(policies: readonly EvaluatedPolicy[]): { scope: AdmissionScope; scopeId: string }[] {
  const seen = new Map(policies.map(({ scope, scopeId }) => [`${scope} ${scopeId}`, { scope, scopeId }]));
  return [...seen.values()];
}
